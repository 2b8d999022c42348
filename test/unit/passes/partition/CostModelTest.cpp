// The roofline: what is free, what is bound by memory, what by arithmetic.
#include "passes/partition/CostModel.h"
#include "test/unit/passes/partition/GraphText.h"

#include <gtest/gtest.h>

using namespace pipec;
using namespace pipec::pipe;
using test::GraphText;

namespace {

const char *kGraph = R"(
pipe.graph @main(%x: tensor<64x1024xf32>, %w: tensor<1024x1024xf32>, %table: tensor<100000x1024xf32>, %i: tensor<4xi64>) -> tensor<65536xf32> {
  %0 = pipe.reshape %x to [65536] : (tensor<64x1024xf32>) -> tensor<65536xf32>
  %1 = pipe.relu %x : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %2 = pipe.dot_general %x, %w contract [1] x [0] : (tensor<64x1024xf32>, tensor<1024x1024xf32>) -> tensor<64x1024xf32>
  %3 = pipe.gather %table, %i dim 0 : (tensor<100000x1024xf32>, tensor<4xi64>) -> tensor<4x1024xf32>
  pipe.output %0 : tensor<65536xf32>
})";

TEST(CostModel, OrdersOpsAsTheyCost) {
  GraphText text(kGraph);
  ASSERT_TRUE(text.graph);
  std::vector<double> seconds;
  for (mlir::Operation &op : text.graph.getBody().front().without_terminator())
    seconds.push_back(estimateSeconds(&op));
  MachineModel machine;
  EXPECT_EQ(seconds[0], 0); // a reshape
  EXPECT_NEAR(seconds[1],
              2 * 64 * 1024 * 4 / machine.bytesPerSecond + machine.secondsPerOp,
              1e-9);
  EXPECT_NEAR(seconds[2],
              2.0 * 64 * 1024 * 1024 / machine.flopsPerSecond +
                  machine.secondsPerOp,
              1e-9);
  EXPECT_LT(seconds[3], seconds[1]); // a lookup does not read the table
}

} // namespace
