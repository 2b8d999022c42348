// The JSON header of a safetensors file, parsed and checked by itself; private
// to runtime/base.
#ifndef PIPEC_RUNTIME_BASE_SAFETENSORS_HEADER_H
#define PIPEC_RUNTIME_BASE_SAFETENSORS_HEADER_H

#include "pipec/tensor.h"

namespace pipec::safetensors {

/// The longest header that is read, as in the format's own library.
constexpr uint64_t kMaxHeaderBytes = 100'000'000;

/// One tensor; its bytes are [begin, end) of the data section.
struct Entry {
  std::string name;
  TensorType type;
  uint64_t begin = 0, end = 0;
};

struct Header {
  std::vector<Entry> entries; // in the order of their offsets
  std::map<std::string, std::string> metadata;
};

/// Parses `text` (the JSON, padding included) for a data section of
/// `dataBytes`. Checks JSON, dtypes, shapes, byte counts, and that the tensors
/// cover the section without overlaps or holes. Errors: DataLoss; Unsupported
/// for a dtype.
StatusOr<Header> parseHeader(std::string_view text, uint64_t dataBytes);

/// The metadata of a sealed file: the digest of all of its bytes, with kNoSeal
/// in the place of the digest itself.
constexpr const char *kSealKey = "pipec.xxh3";
constexpr const char *kNoSeal = "0000000000000000";
/// Where the digest is in the first bytes of a file; 0 where there is none.
size_t findSeal(const std::string &header);

} // namespace pipec::safetensors

#endif
