// Which runs may go on from which checkpoints.
#include "runtime/checkpoint/compare_runs.h"

#include <gtest/gtest.h>

using namespace pipec;

namespace {

CheckpointInfo run() {
  CheckpointInfo info;
  info.seed = 7;
  info.optimizer = {{"kind", "sgd"}, {"momentum", "0.9"}};
  info.notes = {{"data", "'a/x.bin', 4 of 8 rows a step, in order"},
                {"model", "m.onnx"},
                {"lr", "0.1"}};
  return info;
}

std::string refusal(const CheckpointInfo &now, bool isRandom = false,
                    const CheckpointInfo &then = run()) {
  const auto remarks = compareRuns(then, now, isRandom);
  return remarks.ok() ? "" : remarks.status().message();
}

std::vector<std::string> remarks(const CheckpointInfo &now) {
  const auto remarks = compareRuns(run(), now, false);
  EXPECT_TRUE(remarks.ok()) << remarks.status().message();
  return remarks.ok() ? *remarks : std::vector<std::string>{};
}

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(CompareRuns, TheSameRunHasNothingToRemark) {
  EXPECT_TRUE(remarks(run()).empty());
}

TEST(CompareRuns, AnotherOptimizerIsRefused) {
  CheckpointInfo now = run();
  now.optimizer = {{"kind", "adamw"}};
  EXPECT_TRUE(has(refusal(now), "pass --optimizer sgd")) << refusal(now);
}

TEST(CompareRuns, DataFilesAreComparedByContentAndNotByFolder) {
  CheckpointInfo then = run(), now = run();
  now.notes["data file 0"] = "'b/x.bin', 9 bytes, digest 1";
  EXPECT_EQ(refusal(now, false, then), ""); // of an earlier version
  then.notes["data file 0"] = "'a/x.bin', 9 bytes, digest 1";
  EXPECT_EQ(refusal(now, false, then), "");
  then.notes["data file 0"] = "'a/x.bin', 9 bytes, digest 2";
  const std::string text = refusal(now, false, then);
  EXPECT_TRUE(has(text, "then: 'a/x.bin', 9 bytes, digest 2\n")) << text;
  EXPECT_TRUE(has(text, "now:  'b/x.bin', 9 bytes, digest 1")) << text;
}

TEST(CompareRuns, MicrobatchesAreNotedTimesAccumulate) {
  CheckpointInfo then = run(), now = run();
  then.notes["microbatches"] = "3";
  now.notes["microbatches"] = "6";
  const auto lines = compareRuns(then, now, false);
  ASSERT_TRUE(lines.ok());
  EXPECT_EQ(*lines, std::vector<std::string>{
                        "microbatches x accumulate is 6, until this checkpoint "
                        "it was 3"});
}

TEST(CompareRuns, MomentumCannotStartInTheMiddle) {
  CheckpointInfo then = run();
  then.optimizer["momentum"] = "0";
  EXPECT_TRUE(has(refusal(run(), false, then), "leave out --momentum"));
  CheckpointInfo now = run();
  now.optimizer["momentum"] = "0"; // but it can end
  EXPECT_EQ(remarks(now).size(), 1u);
}

TEST(CompareRuns, OtherNumbersAreRemarks) {
  CheckpointInfo now = run();
  now.optimizer["momentum"] = "0.8";
  now.notes["lr"] = "0.01";
  const std::vector<std::string> lines = remarks(now);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "momentum is 0.8, until this checkpoint it was 0.9");
  EXPECT_EQ(lines[1], "lr is 0.01, until this checkpoint it was 0.1");
}

TEST(CompareRuns, DataMayMoveButNotChange) {
  CheckpointInfo now = run();
  now.notes["data"] = "'/elsewhere/b/x.bin', 4 of 8 rows a step, in order";
  EXPECT_TRUE(remarks(now).empty());
  for (const char *other : {"'a/y.bin', 4 of 8 rows a step, in order",
                            "'a/x.bin', 2 of 8 rows a step, in order",
                            "'a/x.bin', 4 of 8 rows a step, shuffled by 1"}) {
    now.notes["data"] = other;
    EXPECT_TRUE(has(refusal(now), "other data")) << other;
    EXPECT_TRUE(has(refusal(now), other));
  }
  now.notes.erase("data"); // a program that does not say
  EXPECT_TRUE(remarks(now).empty());
}

TEST(CompareRuns, TheSeedMattersWhereSomethingIsRandom) {
  CheckpointInfo now = run();
  now.seed = 8;
  EXPECT_EQ(remarks(now).size(), 1u);
  EXPECT_TRUE(has(refusal(now, true), "pass --seed 7")) << refusal(now, true);
}

} // namespace
