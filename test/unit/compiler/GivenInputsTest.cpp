// What is given against what a model file declares.
#include "compiler/GivenInputs.h"

#include <gtest/gtest.h>

using namespace pipec;
using Dim = frontend::ModelInterface::Dim;

namespace {

frontend::ModelInterface model() {
  frontend::ModelInterface m;
  m.inputs = {
      {"x", DType::F32, true, {Dim{-1, "batch"}, Dim{3, ""}, Dim{-1, ""}}},
      {"ids", DType::I64, true, {Dim{4, ""}}},
      {"any", DType::Bool, false, {}}};
  return m;
}

std::map<std::string, TensorType> good() {
  return {{"x", {DType::F32, {2, 3, 5}}},
          {"ids", {DType::I64, {8}}},
          {"any", {DType::Bool, {}}},
          {"labels", {DType::I64, {2}}}};
}

std::string refusal(std::map<std::string, TensorType> types) {
  CompileOptions options;
  options.given = GivenInputs{"in.safetensors", std::move(types)};
  return checkGivenInputs(model(), options).message();
}

TEST(GivenInputs, OthersMayBeThereAndTheFirstDimensionIsTheCuts) {
  EXPECT_EQ(refusal(good()), "");
  EXPECT_TRUE(checkGivenInputs(model(), CompileOptions{}).ok());
}

TEST(GivenInputs, MissingOnesAreListedWithTheirTypes) {
  auto types = good();
  types.erase("x");
  types.erase("any");
  EXPECT_EQ(refusal(types),
            "in.safetensors: inputs do not match; missing: 'any' bool of any "
            "shape, 'x' f32[batch x 3 x ?]; given: 'ids' i64[8], 'labels' "
            "i64[2]; expected: 'any' bool of any shape, 'ids' i64[4], "
            "'x' f32[batch x 3 x ?]");
  EXPECT_NE(refusal({}).find("given: none"), std::string::npos);
}

TEST(GivenInputs, TypesRanksAndFixedSizes) {
  for (TensorType type :
       {TensorType{DType::F64, {2, 3, 5}}, TensorType{DType::F32, {2, 3}},
        TensorType{DType::F32, {2, 4, 5}}}) {
    auto types = good();
    types["x"] = type;
    EXPECT_EQ(refusal(types), "in.safetensors: input 'x': expected f32[batch "
                              "x 3 x ?], got " +
                                  type.str());
  }
}

TEST(GivenInputs, LongListsAreCutShort) {
  auto types = good();
  types.erase("x");
  for (int i = 0; i < 40; ++i)
    types["t" + std::to_string(i)] = {DType::F32, {1}};
  EXPECT_NE(refusal(types).find(" and 19 more; expected:"), std::string::npos)
      << refusal(types);
}

} // namespace
