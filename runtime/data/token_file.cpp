// Opens files of tokens. In: a path, whose content is not trusted. Out: the
// tokens, whatever their width.
//
// llm.c's data files (github.com/karpathy/llm.c, dev/data/data_common.py) begin
// with 256 int32: magic, version, number of tokens, zeros.
// Tests: test/unit/data/TokenSourceTest.cpp.
#include "runtime/data/token_file.h"

#include <algorithm>
#include <cstring>

namespace pipec {
namespace {

constexpr uint64_t kHeaderBytes = 256 * 4;
struct Layout {
  uint32_t magic;
  int32_t version;
  bool isWide;
};
constexpr Layout kLayouts[] = {{20240520, 1, false}, {20240801, 7, true}};

int32_t wordAt(const MappedFile &file, size_t index) {
  int32_t word;
  std::memcpy(&word, file.data() + 4 * index, 4);
  return word;
}

const Layout *layoutOf(const MappedFile &file) {
  if (file.size() < 4)
    return nullptr;
  const auto magic = static_cast<uint32_t>(wordAt(file, 0));
  for (const Layout &layout : kLayouts)
    if (layout.magic == magic)
      return &layout;
  return nullptr;
}

// Text whose every second token is token 0 does not occur; 32-bit tokens below
// 65536 look exactly so when read as 16-bit ones. Without a vocabulary, 32-bit
// tokens may be larger, and their upper halves small numbers: then only where
// the lower halves are not, which sets them apart from 16-bit tokens of a tiny
// alphabet.
bool looksWide(const MappedFile &file, int64_t vocabulary) {
  if (file.size() % 4 != 0)
    return false;
  const uint64_t words = std::min<uint64_t>(file.size() / 2, 65536);
  const auto *data = reinterpret_cast<const uint16_t *>(file.data());
  uint16_t low = 0, high = 0;
  for (uint64_t i = 0; i < words; i += 2) {
    low = std::max(low, data[i]);
    high = std::max(high, data[i + 1]);
  }
  if (high == 0)
    return low != 0;
  return vocabulary == 0 && words >= 128 && high < 32 && low >= 32;
}

} // namespace

StatusOr<TokenFile> TokenFile::open(const std::string &path, TokenWidth width,
                                    int64_t vocabulary) {
  TokenFile tokens;
  PIPEC_ASSIGN_OR_RETURN(tokens.file, MappedFile::open(path));
  const Layout *layout = layoutOf(*tokens.file);
  PIPEC_RETURN_IF_ERROR(layout ? tokens.useHeader(layout->magic)
                               : tokens.useRaw(width, vocabulary));
  if (layout && width != TokenWidth::Auto &&
      tokens.isWide != (width == TokenWidth::U32))
    return invalidArgument("'" + path + "': its header says tokens of " +
                           std::to_string(tokens.bytesPerToken()) +
                           " bytes, not of " +
                           (width == TokenWidth::U32 ? "4" : "2"));
  return tokens;
}

Status TokenFile::useHeader(uint32_t magic) {
  const std::string prefix = "'" + path() + "': ";
  if (file->size() < kHeaderBytes)
    return dataLoss(prefix + "begins as a token file of llm.c (magic " +
                    std::to_string(magic) + "), whose header is " +
                    std::to_string(kHeaderBytes) + " bytes, but the file has " +
                    std::to_string(file->size()) +
                    ": truncated, copy or make it again");
  const Layout &layout = *layoutOf(*file);
  if (wordAt(*file, 1) != layout.version)
    return unsupported(prefix + "version " + std::to_string(wordAt(*file, 1)) +
                       " of llm.c's token files with magic " +
                       std::to_string(magic) + " is not known, expected " +
                       std::to_string(layout.version) +
                       ": make it again, or cut off the header and use the raw "
                       "tokens");
  isWide = layout.isWide;
  count = wordAt(*file, 2);
  const int64_t expected =
      static_cast<int64_t>(kHeaderBytes) + count * bytesPerToken();
  if (count < 0 || static_cast<int64_t>(file->size()) != expected)
    return dataLoss(prefix + "the header says " + std::to_string(count) +
                    " tokens of " + std::to_string(bytesPerToken()) +
                    " bytes, that is a file of " + std::to_string(expected) +
                    " bytes, but it has " + std::to_string(file->size()) +
                    ": truncated, copy or make it again");
  data = file->data() + kHeaderBytes;
  return Status();
}

Status TokenFile::useRaw(TokenWidth width, int64_t vocabulary) {
  isWide = width == TokenWidth::U32 ||
           (width == TokenWidth::Auto &&
            (vocabulary > 65536 || looksWide(*file, vocabulary)));
  if (file->size() % bytesPerToken() != 0)
    return dataLoss("'" + path() + "': " + std::to_string(file->size()) +
                    " bytes are no whole number of tokens of " +
                    std::to_string(bytesPerToken()) +
                    " bytes: truncated, or not a file of " +
                    (isWide ? "uint32" : "uint16") + " tokens");
  count = static_cast<int64_t>(file->size()) / bytesPerToken();
  data = file->data();
  return Status();
}

} // namespace pipec
