// Constants with an entry for each row: those whose numbers follow from row 0's
// and a step, which positions lie in their own row, and what has no such form.
#include "passes/differentiate/ConstantRows.h"
#include "passes/partition/Passes.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace pipec;
using namespace pipec::pipe;

namespace {

template <typename T>
Tensor make(DType dtype, std::vector<int64_t> shape,
            const std::vector<T> &values) {
  return *Tensor::copyOf({dtype, std::move(shape)}, values.data());
}
Tensor integers(std::vector<int64_t> shape, const std::vector<int64_t> &v) {
  return make(DType::I64, std::move(shape), v);
}

TEST(ConstantRows, KnowsEqualRowsAndSteps) {
  auto alike = ConstantRows::of(integers({3, 2}, {1, 2, 1, 2, 1, 2}), 0, 3);
  ASSERT_TRUE(alike);
  EXPECT_TRUE(alike->isAlike());
  auto positions = ConstantRows::of(integers({3}, {0, 1, 2}), 0, 3);
  ASSERT_TRUE(positions);
  EXPECT_FALSE(positions->isAlike());
  // The same numbers of two rows and of three; others are not.
  EXPECT_TRUE(*positions == *ConstantRows::of(integers({2}, {0, 1}), 0, 2));
  EXPECT_FALSE(*positions == *ConstantRows::of(integers({2}, {0, 2}), 0, 2));
  // Rows in the last dimension, two neighbours each.
  auto inner =
      ConstantRows::of(integers({2, 4}, {0, 1, 2, 3, 5, 6, 7, 8}), 1, 2);
  ASSERT_TRUE(inner);
  EXPECT_FALSE(inner->isAlike());
}

TEST(ConstantRows, KnowsNoOtherNumbers) {
  EXPECT_FALSE(ConstantRows::of(integers({3}, {0, 1, 3}), 0, 3));
  EXPECT_FALSE(ConstantRows::of(integers({3}, {0, 1, 2}), 0, 2)); // 3 % 2
  EXPECT_FALSE(ConstantRows::of(integers({0}, {}), 0, 2));
  const int64_t large = int64_t(1) << 53; // and its neighbour are one double
  EXPECT_FALSE(ConstantRows::of(integers({2}, {large, large + 1}), 0, 2));
  const float nan = std::nanf("");
  EXPECT_FALSE(
      ConstantRows::of(make<float>(DType::F32, {2}, {nan, nan}), 0, 2));
  EXPECT_FALSE(ConstantRows::of(make<uint16_t>(DType::F16, {2}, {0, 0}), 0, 2));
}

/// What masks add to scores.
TEST(ConstantRows, KnowsLargeAndInfiniteFloats) {
  const float infinity = std::numeric_limits<float>::infinity(),
              lowest = std::numeric_limits<float>::lowest();
  for (float value : {infinity, -infinity, lowest}) {
    auto rows = ConstantRows::of(
        make<float>(DType::F32, {2, 2}, {0, value, 0, value}), 0, 2);
    ASSERT_TRUE(rows) << value;
    EXPECT_TRUE(rows->isAlike());
    EXPECT_FALSE(ConstantRows::of(
        make<float>(DType::F32, {3}, {value, 0, value}), 0, 3));
  }
}

TEST(ConstantRows, TellsPositionsInTheirOwnRow) {
  // Of rows with 3 neighbours: element 1 of each; then one beyond the row.
  auto at = [](std::vector<int64_t> v) {
    return *ConstantRows::of(integers({2}, v), 0, 2);
  };
  EXPECT_TRUE(at({1, 4}).pointsIntoRow(3));
  EXPECT_FALSE(at({3, 6}).pointsIntoRow(3));
  EXPECT_FALSE(at({-1, 2}).pointsIntoRow(3));
  EXPECT_FALSE(at({1, 3}).pointsIntoRow(3));
  // Index vectors (row, k): the rows by the first component.
  auto vectors = ConstantRows::of(integers({2, 2}, {0, 7, 1, 7}), 0, 2);
  ASSERT_TRUE(vectors);
  EXPECT_TRUE(vectors->pointsIntoRow(1, 0));
  EXPECT_FALSE(vectors->pointsIntoRow(1, 1));
  auto moving = ConstantRows::of(integers({2, 2}, {0, 7, 1, 8}), 0, 2);
  EXPECT_FALSE(moving->pointsIntoRow(1, 0));
}

TEST(Constants, ComputesWhatConstantsAloneMake) {
  mlir::MLIRContext context;
  context.loadDialect<PipeDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
pipe.weight @w parameter : tensor<2xi64> from #pipe.source<"m", 0, 16>
pipe.graph @main(%x: tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) {
  %c = pipe.constant dense<[3, 4]> : tensor<2xi64>
  %i = pipe.iota dim 0 : tensor<2xi64>
  %a = pipe.add %c, %i : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %b = pipe.add %a, %x : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %w = pipe.load_weight @w : tensor<2xi64>
  %d = pipe.add %a, %w : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  pipe.output %a, %b, %d : tensor<2xi64>, tensor<2xi64>, tensor<2xi64>
})",
                                                        &context);
  ASSERT_TRUE(module);
  GraphOp graph = findGraph(*module);
  mlir::SymbolTable weights(*module);
  Constants constants(weights, 1024);
  auto sum = constants.of(graph.getOutput().getOperand(0));
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->as<int64_t>()[1], 5);
  EXPECT_FALSE(constants.of(graph.getOutput().getOperand(1))); // of an input
  EXPECT_FALSE(constants.of(graph.getOutput().getOperand(2))); // of a weight
  EXPECT_FALSE(Constants(weights, 8).of(graph.getOutput().getOperand(0)));
}

} // namespace
