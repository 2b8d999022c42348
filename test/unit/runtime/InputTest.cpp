// Inputs that do not fit: each error says what was expected and what came.
#include "test/unit/runtime/TestSession.h"

namespace pipec::test {
namespace {

Model twoInputs() {
  Model model;
  model.inputs = {{"x", {-1, 2}}, {"y", {-1, 2}}, {"w", {3}, DType::I64, true}};
  model.nodes = {{"add", {"x", "y"}, "z", {-1, 2}}};
  model.outputs = {{"z", "z"}, {"w_out", "w", schema::SAME}};
  return model;
}

TensorMap goodInputs() {
  return {{"x", pattern({4, 2}, 1)},
          {"y", pattern({4, 2}, 2)},
          {"w", i64({3}, {1, 2, 3})}};
}

TEST(InputTest, MissingAndSurplus) {
  TestSession s(twoInputs());
  TensorMap inputs = goodInputs();
  inputs.erase("x");
  inputs["q"] = pattern({1}, 1);
  Status status = s.run(inputs).status();
  expectError(status, StatusCode::InvalidArgument, "missing: 'x'");
  expectError(status, StatusCode::InvalidArgument, "surplus: 'q'");
  expectError(status, StatusCode::InvalidArgument, "'x' f32[Nx2]");
}

TEST(InputTest, ShapesAndDTypes) {
  TestSession s(twoInputs());
  TensorMap inputs = goodInputs();
  inputs["x"] = pattern({4, 3}, 1);
  expectError(s.run(inputs).status(), StatusCode::InvalidArgument,
              "input 'x': expected f32[Nx2], got f32[4x3]");
  inputs["x"] = i64({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  expectError(s.run(inputs).status(), StatusCode::InvalidArgument, "i64[4x2]");
  inputs["x"] = pattern({}, 1);
  expectError(s.run(inputs).status(), StatusCode::InvalidArgument, "f32[]");
  inputs["x"] = pattern({6, 2}, 1);
  expectError(s.run(inputs).status(), StatusCode::InvalidArgument,
              "have 6 and 4 rows");
  inputs = goodInputs();
  inputs["w"] = i64({4}, {1, 2, 3, 4});
  expectError(s.run(inputs).status(), StatusCode::InvalidArgument,
              "input 'w': expected i64[3], got i64[4]");
}

TEST(InputTest, TensorWithoutData) {
  TestSession s(twoInputs());
  TensorMap inputs = goodInputs();
  inputs["x"] = Tensor::wrap({DType::F32, {4, 2}}, nullptr, nullptr);
  expectError(s.run(inputs).status(), StatusCode::InvalidArgument, "no data");
}

TEST(InputTest, BoolOutOfRange) {
  Model model;
  model.inputs = {{"b", {-1}, DType::Bool}};
  model.nodes = {{"not", {"b"}, "n", {-1}, 0, DType::Bool}};
  model.outputs = {{"n", "n"}};
  TestSession s(model);
  const uint8_t bytes[] = {1, 7};
  expectError(
      s.run({{"b", *Tensor::copyOf({DType::Bool, {2}}, bytes)}}).status(),
      StatusCode::InvalidArgument, "element 1 of a bool");
}

TEST(InputTest, UnalignedTensorsWork) {
  TestSession s(twoInputs());
  TensorMap inputs = goodInputs();
  auto expected = s.run(inputs);
  ASSERT_TRUE(expected.ok());
  auto memory = std::make_shared<std::vector<uint8_t>>(33);
  std::memcpy(memory->data() + 1, inputs["x"].data(), 32);
  inputs["x"] = Tensor::wrap({DType::F32, {4, 2}}, memory->data() + 1, memory);
  auto outputs = s.run(inputs);
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_TRUE(sameBits((*outputs)["z"], (*expected)["z"]));
}

} // namespace
} // namespace pipec::test
