// Files that differ, in size or in a block that is read, are told apart.
#include "runtime/base/fingerprint.h"

#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace pipec;

namespace {

std::string of(const std::string &content) {
  const std::string path =
      ::testing::TempDir() + "pipec-fingerprint-" + std::to_string(::getpid());
  std::ofstream(path, std::ios::binary) << content;
  const auto print = fingerprintOf(path);
  std::remove(path.c_str());
  EXPECT_TRUE(print.ok()) << print.status().message();
  return print.ok() ? *print : "";
}

TEST(Fingerprint, EveryByteOfASmallFileCounts) {
  EXPECT_EQ(of("abc"), of("abc"));
  EXPECT_EQ(of("abc").rfind("3 bytes, digest ", 0), 0u);
  EXPECT_NE(of("abc"), of("abd"));
  EXPECT_NE(of(""), of(std::string(1, '\0')));
}

TEST(Fingerprint, OfALargeOneSizeAndBlocksFromFirstToLast) {
  std::string large(3000001, 'x');
  const std::string whole = of(large);
  for (size_t at : {size_t(0), size_t(1) << 16, (large.size() - 65536) / 15 * 7,
                    large.size() - 1}) {
    std::string other = large;
    other[at] = 'y';
    const bool isRead = at != size_t(1) << 16; // behind the first block
    EXPECT_EQ(of(other) != whole, isRead) << at;
  }
  EXPECT_NE(of(large + "x"), whole);
}

TEST(Fingerprint, AFileThatIsNotThereIsAnError) {
  EXPECT_FALSE(fingerprintOf("/nonexistent/file").ok());
}

} // namespace
