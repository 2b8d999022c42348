// Checkpoints for others: one file, and a description.
#include "runtime/checkpoint/weight_files.h"
#include "test/unit/checkpoint/CheckpointHelper.h"

using namespace pipec;
using test::firstOf;
using test::floats;
using test::named;

namespace {

using ExportTest = test::CheckpointFileTest;

TEST_F(ExportTest, OneFileHasEveryName) {
  writeCheckpoint(2, 50);
  const std::string file = path("weights.safetensors");
  ASSERT_TRUE(exportWeights(open(dir()), file, false).ok());
  auto exported = SafetensorsFile::open(file);
  ASSERT_TRUE(exported.ok());
  EXPECT_EQ(exported->metadata().at("format"), "pt");
  EXPECT_EQ(exported->names().size(), 4u);
  auto weights = WeightFiles::open({file});
  ASSERT_TRUE(weights.ok());
  Tensor w = floats({2, 3}, 0), mean = floats({}, 0);
  ASSERT_TRUE(
      weights->loadInto({named({"w", "t"}, w), named({"mean"}, mean)}).ok());
  EXPECT_EQ(firstOf(w), 50);
  EXPECT_EQ(firstOf(mean), 70);
  EXPECT_NE(
      exportWeights(open(dir()), file, false).message().find("exists already"),
      std::string::npos);
  EXPECT_TRUE(exportWeights(open(dir()), file, true).ok());
}

TEST_F(ExportTest, Description) {
  writeCheckpoint(2, 50);
  EXPECT_EQ(describeCheckpoint(open(dir())),
            "checkpoint " + dir() +
                "/step-2\n"
                "step 2, data position 2, seed 18446744073709551615\n"
                "optimizer\n"
                "  kind: adam\n"
                "notes\n"
                "  data: 't.bin', in order\n"
                "weights: 4 names, 64 bytes; optimizer state: 2 tensors, 36 "
                "bytes\n"
                "  b  f32[3]  part-1.safetensors\n"
                "  mean  f32[]  part-1.safetensors  buffer\n"
                "  t  f32[2x3]  part-0.safetensors\n"
                "  w  f32[2x3]  part-0.safetensors\n"
                "tied: 'w', 't'\n");
}

} // namespace
