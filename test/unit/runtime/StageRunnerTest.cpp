// Single stages: chained by hand they equal the session; nothing of other
// stages is read.
#include "test/unit/runtime/TestSession.h"

#include <filesystem>
#include <fstream>

namespace pipec::test {
namespace {

TEST(StageRunnerTest, ChainedStagesEqualTheSession) {
  TestSession s(mlp(4, {2}));
  Tensor x = pattern({2, 4}, 9);
  auto expected = s.run({{"x", x}});
  ASSERT_TRUE(expected.ok());
  TensorMap values = {{"x", x}};
  for (int64_t stage = 0; stage < 4; ++stage) {
    auto runner = StageRunner::create(s.package, stage, referenceOptions());
    ASSERT_TRUE(runner.ok()) << runner.status().message();
    TensorMap inputs;
    for (const std::string &name : (*runner)->inputNames())
      inputs[name] = values.at(name);
    auto outputs = (*runner)->run(inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    for (const auto &[name, tensor] : *outputs)
      values[name] = tensor;
  }
  EXPECT_TRUE(sameBits(values.at("y"), expected->at("y")));
}

TEST(StageRunnerTest, PicksTheVariantByShape) {
  TestSession s(mlp(1, {3, 2}));
  auto runner = StageRunner::create(s.package, 0, referenceOptions());
  ASSERT_TRUE(runner.ok());
  for (int64_t rows : {2, 3}) {
    auto outputs = (*runner)->run({{"x", pattern({rows, 4}, 1)}});
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    EXPECT_EQ(outputs->at("y").shape()[0], rows);
  }
  Status status = (*runner)->run({{"x", pattern({4, 4}, 1)}}).status();
  expectError(status, StatusCode::InvalidArgument,
              "input 'x': expected f32[3x4], got f32[4x4]");
  expectError(status, StatusCode::InvalidArgument, "expected f32[2x4]");
}

TEST(StageRunnerTest, MissingAndSurplusInputs) {
  TestSession s(mlp(1, {2}));
  auto runner = StageRunner::create(s.package, 0, referenceOptions());
  ASSERT_TRUE(runner.ok());
  expectError((*runner)->run({}).status(), StatusCode::InvalidArgument,
              "input 'x': expected f32[2x4], got none");
  expectError((*runner)
                  ->run({{"x", pattern({2, 4}, 1)}, {"z", pattern({1}, 1)}})
                  .status(),
              StatusCode::InvalidArgument, "surplus input 'z'");
  expectError(
      (*runner)
          ->run({{"x", Tensor::wrap({DType::F32, {2, 4}}, nullptr, nullptr)}})
          .status(),
      StatusCode::InvalidArgument, "no data");
}

TEST(StageRunnerTest, ReadsItsOwnStageOnly) {
  TempFolder folder;
  const std::string path = folder / "m.pipe";
  ASSERT_TRUE(PackageBuilder(mlp(2, {2})).write(path).ok());
  // A host with stage 1 alone.
  std::filesystem::remove_all(path + "/stage0");
  auto alone = Package::open(path);
  ASSERT_TRUE(alone.ok()) << alone.status().message();
  auto runner = StageRunner::create(*alone, 1, referenceOptions());
  ASSERT_TRUE(runner.ok()) << runner.status().message();
  TensorMap inputs;
  for (const std::string &name : (*runner)->inputNames())
    inputs[name] = pattern({2, 4}, 1);
  EXPECT_TRUE((*runner)->run(inputs).ok());
  expectError(StageRunner::create(*alone, 0, referenceOptions()).status(),
              StatusCode::Io, "stage0");
}

TEST(StageRunnerTest, OtherStagesWeightsMayBeUnreadable) {
  TempFolder folder;
  const std::string path = folder / "m.pipe";
  ASSERT_TRUE(PackageBuilder(mlp(2, {2})).write(path).ok());
  auto package = Package::open(path);
  ASSERT_TRUE(package.ok());
  std::ofstream(path + "/stage0/weights.safetensors", std::ios::trunc) << "x";
  EXPECT_TRUE(StageRunner::create(*package, 1, referenceOptions()).ok());
  EXPECT_FALSE(StageRunner::create(*package, 0, referenceOptions()).ok());
}

TEST(StageRunnerTest, StageOutOfRange) {
  TestSession s(mlp(2, {2}));
  for (int64_t stage : {int64_t(-1), int64_t(2), INT64_MAX})
    expectError(
        StageRunner::create(s.package, stage, referenceOptions()).status(),
        StatusCode::InvalidArgument, "there are 2");
}

} // namespace
} // namespace pipec::test
