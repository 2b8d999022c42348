// The numeric check: the op where a NaN or infinity first appears, and nothing
// else.
#include "test/unit/runtime/TestSession.h"

#include <limits>

namespace pipec::test {
namespace {

Model logModel(const char *op) {
  Model model;
  model.stages = 3;
  model.rows = {1};
  model.inputs = {{"x", {-1, 2}}};
  model.nodes = {{"neg", {"x"}, "a", {-1, 2}, 0},
                 {op, {"a"}, "b", {-1, 2}, 1, DType::F32, {}, "fc2.act"},
                 {"neg", {"b"}, "y", {-1, 2}, 2}};
  model.outputs = {{"y", "y"}};
  return model;
}

SessionOptions checking() {
  SessionOptions options = referenceOptions();
  options.checkNumerics = true;
  return options;
}

TEST(NumericsTest, NanNamesStageMicrobatchAndOp) {
  TestSession s(logModel("log"), checking());
  Tensor x = f32({4, 2}, {-1, -1, -1, -1, -1, 1, -1, -1});
  Status status = s.run({{"x", x}}).status();
  expectError(status, StatusCode::NumericError,
              "nan in stage 1, microbatch 2: ");
  for (const char *part : {"log", "node_b", "fc2.act", "model.py:11"})
    EXPECT_NE(status.message().find(part), std::string::npos)
        << status.message();
  auto outputs = s.run({{"x", f32({1, 2}, {-1, -1})}});
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
}

TEST(NumericsTest, Infinity) {
  TestSession s(logModel("exp"), checking());
  expectError(s.run({{"x", f32({2, 2}, {0, 0, 0, -1e4f})}}).status(),
              StatusCode::NumericError, "infinity in stage 1, microbatch 1: ");
}

TEST(NumericsTest, OffByDefault) {
  TestSession s(logModel("log"));
  EXPECT_TRUE(s.run({{"x", f32({1, 2}, {1, 1})}}).ok());
}

TEST(NumericsTest, WhatCameInIsNotReported) {
  const float inf = std::numeric_limits<float>::infinity();
  TestSession s(logModel("log"), checking());
  // -(-inf) = inf, log(inf) = inf: each op was given one.
  auto outputs = s.run({{"x", f32({1, 2}, {-inf, -1})}});
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
}

TEST(NumericsTest, MasksOfMinusInfinity) {
  Model model;
  model.rows = {1};
  model.inputs = {{"x", {-1, 2}}};
  model.weights["mask"] =
      f32({2}, {0, -std::numeric_limits<float>::infinity()});
  model.nodes = {{"add", {"x", "mask"}, "m", {-1, 2}},
                 {"exp", {"m"}, "y", {-1, 2}}};
  model.outputs = {{"y", "y"}};
  TestSession s(model, checking());
  auto outputs = s.run({{"x", f32({1, 2}, {0, 0})}});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_EQ(floats(outputs->at("y")), (std::vector<float>{1, 0}));
}

TEST(NumericsTest, ANanThatComesInIsNamedWhereItIsRead) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  TestSession s(logModel("exp"), checking());
  expectError(s.run({{"x", f32({2, 2}, {0, 0, nan, 0})}}).status(),
              StatusCode::NumericError, "nan in stage 0, microbatch 1: ");
  expectError(s.run({{"x", f32({1, 2}, {0, nan})}}).status(),
              StatusCode::NumericError, "reads it from input 'x'");
  Model model;
  model.rows = {1};
  model.inputs = {{"x", {-1, 2}}};
  model.weights["fc.bias"] = f32({2}, {0, nan});
  model.nodes = {{"add", {"x", "fc.bias"}, "y", {-1, 2}}};
  model.outputs = {{"y", "y"}};
  TestSession weighted(model, checking());
  expectError(weighted.run({{"x", f32({1, 2}, {0, 0})}}).status(),
              StatusCode::NumericError, "reads it from parameter 'fc.bias'");
}

TEST(NumericsTest, ANanMadeOfInfinities) {
  const float inf = std::numeric_limits<float>::infinity();
  Model model;
  model.rows = {1};
  model.inputs = {{"x", {-1, 2}}};
  model.nodes = {{"sub", {"x", "x"}, "y", {-1, 2}}};
  model.outputs = {{"y", "y"}};
  TestSession s(model, checking());
  expectError(s.run({{"x", f32({1, 2}, {inf, 0})}}).status(),
              StatusCode::NumericError, "nan in stage 0, microbatch 0: ");
  expectError(s.run({{"x", f32({1, 2}, {inf, 0})}}).status(),
              StatusCode::NumericError,
              "; likely made of the infinity read from input 'x'");
  // A model that looks for it deals with it.
  model.nodes.push_back({"is_nan", {"y"}, "z", {-1, 2}, 0, DType::Bool});
  model.outputs = {{"z", "z"}};
  TestSession asking(model, checking());
  auto outputs = asking.run({{"x", f32({1, 2}, {inf, 0})}});
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
}

TEST(NumericsTest, ConversionThatOverflows) {
  Model model;
  model.rows = {1};
  model.inputs = {{"x", {-1}, DType::F64}};
  model.nodes = {{"convert", {"x"}, "y", {-1}}};
  model.outputs = {{"y", "y"}};
  TestSession s(model, checking());
  const double big = 1e300;
  expectError(s.run({{"x", *Tensor::copyOf({DType::F64, {1}}, &big)}}).status(),
              StatusCode::NumericError, "infinity in stage 0, microbatch 0");
}

TEST(NumericsTest, StageRunnerChecksToo) {
  TempFolder folder;
  Package package =
      openBuilt(PackageBuilder(logModel("log")), folder / "m.pipe");
  auto runner = StageRunner::create(package, 1, checking());
  ASSERT_TRUE(runner.ok());
  expectError((*runner)->run({{"a", f32({1, 2}, {-1, 1})}}).status(),
              StatusCode::NumericError, "nan in stage 1");
}

} // namespace
} // namespace pipec::test
