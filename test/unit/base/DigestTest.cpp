// Checksums: XXH3's published values, and files that carry their own.
#include "runtime/base/digest.h"
#include "runtime/base/safetensors.h"
#include "test/unit/base/TestFile.h"

#include <algorithm>

using namespace pipec;

namespace {

TEST(DigestTest, IsXxh3InAnyPieces) {
  EXPECT_EQ(digestOf("", 0), "2d06800538d394c2");
  const std::string text(1000, 'x');
  Digest pieces;
  for (size_t at = 0; at < text.size(); at += 7)
    pieces.add(text.data() + at, std::min<size_t>(7, text.size() - at));
  EXPECT_EQ(pieces.hex(), digestOf(text.data(), text.size()));
  EXPECT_NE(pieces.hex(), digestOf(text.data(), text.size() - 1));
}

using SealTest = test::FileTest;

TEST_F(SealTest, SealedFilesShowEveryFlippedBit) {
  const float values[3] = {1, 2, 3};
  auto writer = SafetensorsWriter::create(path("a"), {{"a", {DType::F32, {3}}}},
                                          false, {{"format", "pt"}},
                                          SafetensorsWriter::Seal::Yes);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->write(values, sizeof values).ok());
  ASSERT_TRUE((*writer)->finish().ok());
  EXPECT_TRUE(SafetensorsFile::open(path("a"))->checkSeal().ok());
  const std::string good = read("a");
  // Past the seal's key, which a reader takes for another one's when damaged.
  for (size_t at = good.find("pipec.xxh3") + 13; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    write("a", bad);
    auto opened = SafetensorsFile::open(path("a"));
    EXPECT_FALSE(opened.ok() && opened->checkSeal().ok()) << "byte " << at;
  }
}

TEST_F(SealTest, OtherFilesPass) {
  ASSERT_TRUE(saveSafetensors(path("a"), {}, false).ok());
  EXPECT_TRUE(SafetensorsFile::open(path("a"))->checkSeal().ok());
}

} // namespace
