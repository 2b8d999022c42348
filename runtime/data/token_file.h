// A file of tokens, raw or in llm.c's layout.
#ifndef PIPEC_RUNTIME_DATA_TOKEN_FILE_H
#define PIPEC_RUNTIME_DATA_TOKEN_FILE_H

#include "runtime/base/mapped_file.h"
#include "runtime/data/batch_source.h"

namespace pipec {

/// Tokens by their position, mapped. Thread rule: immutable.
class TokenFile {
public:
  /// The layout is found as TokenOptions says. Errors: Io,
  /// InvalidArgument for a width that is not the header's, DataLoss for
  /// truncated files, Unsupported for versions of the layout that pipec does
  /// not know.
  static StatusOr<TokenFile> open(const std::string &path, TokenWidth width,
                                  int64_t vocabulary);

  int64_t size() const { return count; }
  /// Requires 0 <= i < size().
  uint32_t operator[](int64_t i) const {
    return isWide ? reinterpret_cast<const uint32_t *>(data)[i]
                  : reinterpret_cast<const uint16_t *>(data)[i];
  }
  /// Whether the file says itself what it holds.
  bool hasHeader() const { return data != file->data(); }
  /// 2 or 4.
  int bytesPerToken() const { return isWide ? 4 : 2; }
  const std::string &path() const { return file->path(); }

private:
  Status useHeader(uint32_t magic);
  Status useRaw(TokenWidth width, int64_t vocabulary);

  std::shared_ptr<const MappedFile> file;
  const uint8_t *data = nullptr; // aligned: the map's base, or 1024 behind it
  int64_t count = 0;
  bool isWide = false;
};

} // namespace pipec

#endif
