// Fingerprints of data files. In: a path. Out: a text to compare.
// Tests: test/unit/data/FingerprintTest.cpp.
#include "runtime/base/fingerprint.h"

#include "runtime/base/digest.h"

namespace pipec {

StatusOr<std::string> fingerprintOf(const std::string &path) {
  PIPEC_ASSIGN_OR_RETURN(const auto file, MappedFile::open(path));
  return fingerprintOf(*file);
}

std::string fingerprintOf(const MappedFile &file) {
  constexpr uint64_t blocks = 16, blockBytes = uint64_t(1) << 16;
  const uint64_t size = file.size();
  const std::string text = std::to_string(size) + " bytes";
  Digest digest;
  digest.add(text.data(), text.size());
  if (size <= blocks * blockBytes) {
    digest.add(file.data(), size);
  } else {
    const uint64_t last = size - blockBytes;
    for (uint64_t i = 0; i + 1 < blocks; ++i)
      digest.add(file.data() + last / (blocks - 1) * i, blockBytes);
    digest.add(file.data() + last, blockBytes);
  }
  return text + ", digest " + digest.hex();
}

} // namespace pipec
