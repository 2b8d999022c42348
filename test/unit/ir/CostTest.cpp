// Flops and bytes of ops, against counts made by hand.
#include "test/unit/ir/ParseGraph.h"

#include <gtest/gtest.h>

#include <limits>

using namespace mlir;
using namespace pipec::pipe;
using pipec::pipe::testing::parseModule;

namespace {

struct CostCase {
  const char *arguments; // of the graph
  const char *op;        // one op on %a, %b, ..
  int64_t flops;
  int64_t bytes;
};

class Cost : public ::testing::TestWithParam<CostCase> {};

TEST_P(Cost, MatchesHandCount) {
  const CostCase &c = GetParam();
  MLIRContext context;
  std::string text = std::string("pipe.graph @g(") + c.arguments + ") {\n" +
                     c.op + "\npipe.output\n}";
  OwningOpRef<ModuleOp> module = parseModule(context, text);
  ASSERT_TRUE(module) << text;
  int found = 0;
  module->walk([&](CostInterface op) {
    ++found;
    EXPECT_EQ(op.getFlops(), c.flops) << c.op;
    EXPECT_EQ(op.getBytes(), c.bytes) << c.op;
  });
  EXPECT_EQ(found, 1);
}

// clang-format off
const CostCase kCases[] = {
    {"%a: tensor<2x3xf32>", "%0 = pipe.relu %a : (tensor<2x3xf32>) -> tensor<2x3xf32>", 6, 48},
    {"%a: tensor<2x3xf32>", "%0 = pipe.exp %a : (tensor<2x3xf32>) -> tensor<2x3xf32>", 48, 48},
    {"%a: tensor<2x3xf16>, %b: tensor<f16>", "%0 = pipe.pow %a, %b : (tensor<2x3xf16>, tensor<f16>) -> tensor<2x3xf16>", 48, 26},
    {"%a: tensor<2x1xi64>, %b: tensor<3xi64>", "%0 = pipe.compare lt %a, %b : (tensor<2x1xi64>, tensor<3xi64>) -> tensor<2x3xi1>", 6, 46},
    {"%a: tensor<2x3xf32>", "%0 = pipe.reduce sum %a dims [1] : (tensor<2x3xf32>) -> tensor<2xf32>", 6, 32},
    {"%a: tensor<2x3xf32>", "%0 = pipe.arg_reduce argmax %a dim 1 : (tensor<2x3xf32>) -> tensor<2xi64>", 6, 40},
    {"%a: tensor<8xf32>", "%0:2 = pipe.top_k %a k 4 dim 0 : (tensor<8xf32>) -> (tensor<4xf32>, tensor<4xi64>)", 24, 80},
    {"%a: tensor<2x3xf32>", "%0 = pipe.transpose %a by [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>", 0, 48},
    {"", "%0 = pipe.iota dim 0 : tensor<4xi64>", 0, 32},
    {"%a: tensor<5x3xf32>, %b: tensor<2xi64>", "%0 = pipe.gather %a, %b dim 0 : (tensor<5x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>", 0, 100},
    {"%a: tensor<5xf32>, %b: tensor<2xi64>, %c: tensor<2xf32>", "%0 = pipe.scatter_elements add %a, %b, %c dim 0 : (tensor<5xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<5xf32>", 2, 64},
    {"%a: tensor<1x2x3xf32>", "%0 = pipe.resize linear %a to [1, 4, 6] scales [1.0, 2.0, 2.0] : (tensor<1x2x3xf32>) -> tensor<1x4x6xf32>", 2 * 4 * 24, 120},
    // 2 batches of 3 x 4 by 4 x 5.
    {"%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>", "%0 = pipe.dot_general %a, %b batch [0] x [0] contract [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>", 2 * 2 * 3 * 4 * 5, 4 * (24 + 40 + 30)},
    // 6 x 6 positions, 6 output channels, each over 2 channels and 3 x 3.
    {"%a: tensor<1x4x8x8xf32>, %b: tensor<6x2x3x3xf32>", "%0 = pipe.convolution %a, %b strides [1, 1] padding [0, 0, 0, 0] dilations [1, 1] {groups = 2} : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x6x6xf32>", 2 * 216 * 18, 4 * (256 + 108 + 216)},
    // 8 positions of 4 channels, each to 3 channels and a window of 3.
    {"%a: tensor<1x4x8xf32>, %b: tensor<4x3x3xf32>", "%0 = pipe.conv_transpose %a, %b strides [1] padding [0, 0] dilations [1] output_padding [0] : (tensor<1x4x8xf32>, tensor<4x3x3xf32>) -> tensor<1x3x10xf32>", 2 * 32 * 9, 4 * (32 + 36 + 30)},
    {"%a: tensor<1x1x4x4xf32>", "%0 = pipe.max_pool %a window [2, 2] strides [2, 2] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<1x1x4x4xf32>) -> tensor<1x1x2x2xf32>", 16, 80},
    // A softmax and four operations for each of the 24 logits.
    {"%a: tensor<2x3x4xf32>, %b: tensor<2x3xi64>", "%0 = pipe.cross_entropy %a, %b ignore 0 smoothing 0.0 : (tensor<2x3x4xf32>, tensor<2x3xi64>) -> tensor<f32>", 24 * 12, 96 + 48 + 4},
    {"%a: tensor<2x4xf32>, %b: tensor<2xi32>, %c: tensor<f32>", "%0 = pipe.cross_entropy_grad %a, %b, %c ignore 0 smoothing 0.0 : (tensor<2x4xf32>, tensor<2xi32>, tensor<f32>) -> tensor<2x4xf32>", 8 * 12, 32 + 8 + 4 + 32},
    {"%a: tensor<1x1x4x4xf32>, %b: tensor<1x1x2x2xf32>", "%0 = pipe.max_pool_grad %a, %b window [2, 2] strides [2, 2] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<1x1x4x4xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x4x4xf32>", 16, 64 + 16 + 64},
    {"%a: tensor<1x1x2x2xf32>", "%0 = pipe.avg_pool_grad %a to [1, 1, 4, 4] window [2, 2] strides [2, 2] padding [0, 0, 0, 0] dilations [1, 1] : (tensor<1x1x2x2xf32>) -> tensor<1x1x4x4xf32>", 16, 80},
    {"%a: tensor<1x6xf32>", "%0 = pipe.resize_grad linear %a to [1, 3] scales [1.0, 2.0] : (tensor<1x6xf32>) -> tensor<1x3xf32>", 2 * 2 * 6, 36},
    {"%a: tensor<2x3xf32>", "%0 = pipe.softmax %a dim 1 : (tensor<2x3xf32>) -> tensor<2x3xf32>", 72, 48},
    {"%a: tensor<2x4xf32>", "%0 = pipe.layer_norm %a axis 1 epsilon 1.0e-5 : (tensor<2x4xf32>) -> tensor<2x4xf32>", 64, 64},
    // Scores 1 x 2 x 3 x 5; two products over 4 and 6.
    {"%a: tensor<1x2x3x4xf32>, %b: tensor<1x2x5x4xf32>, %c: tensor<1x2x5x6xf32>", "%0 = pipe.attention %a, %b, %c scale 0.5 : (tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x6xf32>) -> tensor<1x2x3x6xf32>", 2 * 30 * 4 + 2 * 30 * 6 + 30 * 12, 4 * (24 + 40 + 60 + 36)},
};
// clang-format on
INSTANTIATE_TEST_SUITE_P(Ops, Cost, ::testing::ValuesIn(kCases));

TEST(CostHelpers, Saturate) {
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(saturatingProduct({most, 2}), most);
  EXPECT_EQ(saturatingProduct({most, 2, 0}), 0);
  EXPECT_EQ(saturatingProduct({}), 1);
  EXPECT_EQ(saturatingSum({most, 1}), most);
  EXPECT_EQ(saturatingSum({1, 2}), 3);
}

} // namespace
