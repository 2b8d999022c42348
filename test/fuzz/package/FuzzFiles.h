// How a fuzzer's input holds the files of a package: chunks of one byte that
// says which file, four bytes of length (little-endian), and the content.
#ifndef PIPEC_TEST_FUZZ_PACKAGE_FUZZFILES_H
#define PIPEC_TEST_FUZZ_PACKAGE_FUZZFILES_H

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

namespace pipec::test {

constexpr unsigned kFilesOfStage = 5;

/// 0: manifest; then for each of 16 stages programs 0 and 1, the weights, and
/// the backward programs.
inline std::string fuzzFileName(uint8_t id) {
  if (id == 0)
    return "manifest.json";
  const unsigned index = id - 1u;
  const std::string folder =
      "stage" + std::to_string(index / kFilesOfStage % 16);
  static const char *const names[kFilesOfStage] = {
      "/program0.pb", "/program1.pb", "/weights.safetensors",
      "/backward_input0.pb", "/backward_weight0.pb"};
  return folder + names[index % kFilesOfStage];
}

inline std::map<std::string, std::string> unpackFiles(const uint8_t *data,
                                                      size_t size) {
  std::map<std::string, std::string> files;
  while (size >= 5) {
    const uint8_t id = data[0];
    size_t length =
        data[1] | data[2] << 8 | data[3] << 16 | size_t(data[4]) << 24;
    length = std::min(length, size - 5);
    files[fuzzFileName(id)].assign(reinterpret_cast<const char *>(data + 5),
                                   length);
    data += 5 + length;
    size -= 5 + length;
  }
  return files;
}

inline void packFile(std::string &packed, uint8_t id,
                     const std::string &content) {
  packed += static_cast<char>(id);
  for (int shift = 0; shift < 32; shift += 8)
    packed += static_cast<char>(content.size() >> shift & 0xff);
  packed += content;
}

} // namespace pipec::test

#endif
