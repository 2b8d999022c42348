// Zero biases that the exporter's optimizer removed are there again, where the
// file proves which parameter they are and of which shape.
#include "frontends/onnx/names/Names.h"
#include "test/unit/frontends/ImportHelper.h"

#include <gtest/gtest.h>

namespace pipec::onnx {
namespace {

using namespace testing;

struct Case {
  const char *op, *call;
  std::vector<int64_t> weight;
  const char *rule = "RemoveOptionalBiasFrom";
  int64_t transB = 0;
};

/// A model of one node without a bias; the shape of the parameter "l.bias",
/// empty where there is none.
std::vector<int64_t> biasOf(const Case &one) {
  ScratchFolder folder;
  ModelBuilder builder;
  const bool matrix = one.weight.size() == 2;
  builder.input("x", matrix ? std::vector<std::string>{"1", "2"}
                            : std::vector<std::string>{"1", "2", "4"});
  builder.signature("p_l_weight: PARAMETER target='l.weight'\n"
                    "p_l_bias: PARAMETER target='l.bias'\n");
  std::vector<float> values;
  for (int64_t i = 0; i < one.weight[0] * one.weight[1]; ++i)
    values.push_back(static_cast<float>(i));
  builder.floats("l.weight", one.weight, values);
  auto *node = builder.node(one.op, {"x", "l.weight"}, {"y"});
  ModelBuilder::metadata(node, "pkg.onnxscript.rewriter.rule_name",
                         one.rule == std::string("RemoveOptionalBiasFrom")
                             ? std::string(one.rule) + one.op
                             : one.rule);
  ModelBuilder::metadata(node, "pkg.torch.onnx.fx_node",
                         std::string("%y : [num_users=1] = call_function["
                                     "target=torch.ops.") +
                             one.call + ", kwargs = {})");
  if (one.transB)
    ModelBuilder::attribute(node, "transB", one.transB);
  builder.output("y");
  auto model = importFile(folder.write("m.onnx", builder.bytes()));
  EXPECT_TRUE(model.ok()) << model.message();
  if (!model.ok())
    return {};
  auto weights = model.weights();
  auto bias = weights.find("l.bias");
  if (bias == weights.end())
    return {};
  EXPECT_EQ(bias->second.getKind(), pipe::WeightKind::parameter);
  EXPECT_EQ(model.count("load_weight"), 2) << model.text();
  return pipe::toTensorType(bias->second.getType()).shape;
}

constexpr const char *kLinear =
    "aten.linear.default](args = (%x, %p_l_weight, %p_l_bias)";
constexpr const char *kConv =
    "aten.conv1d.default](args = (%x, %p_l_weight, %p_l_bias)";
constexpr const char *kTransposed =
    "aten.conv_transpose1d.default](args = (%x, %p_l_weight, %p_l_bias)";

TEST(RemovedBiases, AreZerosOfTheirLayer) {
  using Shape = std::vector<int64_t>;
  EXPECT_EQ(biasOf({"Gemm", kLinear, {3, 2}, "RemoveOptionalBiasFrom", 1}),
            (Shape{3}));
  EXPECT_EQ(biasOf({"Conv", kConv, {3, 2, 1}}), (Shape{3}));
  EXPECT_EQ(biasOf({"ConvTranspose", kTransposed, {2, 3, 1}}), (Shape{3}));
}

TEST(RemovedBiases, NotWhereTheFileDoesNotSaySo) {
  using Shape = std::vector<int64_t>;
  const char *const unknown = "FuseBatchNormIntoGemm";
  EXPECT_EQ(biasOf({"Gemm", kLinear, {3, 2}, unknown, 1}), Shape());
  // Without a bias, and addmm, whose summand may have any shape.
  EXPECT_EQ(
      biasOf(
          {"Conv", "aten.conv1d.default](args = (%x, %p_l_weight)", {3, 2, 1}}),
      Shape());
  EXPECT_EQ(biasOf({"Gemm",
                    "aten.addmm.default](args = (%p_l_bias, %x, %p_l_weight)",
                    {2, 3}}),
            Shape());
}

/// addmm(l.bias, l(x), v): the Gemm of each lost the bias.
TEST(RemovedBiases, SummandThatALayerHasToo) {
  ScratchFolder folder;
  ModelBuilder builder;
  builder.input("x", {"1", "2"});
  builder.signature("p_l_weight: PARAMETER target='l.weight'\n"
                    "p_l_bias: PARAMETER target='l.bias'\n"
                    "p_v: PARAMETER target='v'\n");
  builder.floats("l.weight", {2, 2}, {1, 2, 3, 4});
  builder.floats("v", {2, 2}, {5, 6, 7, 8});
  auto *layer = builder.node("Gemm", {"x", "l.weight"}, {"h"});
  ModelBuilder::attribute(layer, "transB", 1);
  auto *sum = builder.node("Gemm", {"h", "v"}, {"y"});
  for (auto [node, call] :
       {std::pair(layer, std::string(kLinear)),
        std::pair(sum, std::string("aten.addmm.default](args = (%p_l_bias, "
                                   "%linear, %p_v)"))}) {
    ModelBuilder::metadata(node, "pkg.onnxscript.rewriter.rule_name",
                           "RemoveOptionalBiasFromGemm");
    ModelBuilder::metadata(node, "pkg.torch.onnx.fx_node",
                           "%y : [num_users=1] = call_function[target=torch."
                           "ops." +
                               call + ", kwargs = {})");
  }
  builder.output("y");
  auto model = openModel(folder.write("m.onnx", builder.bytes()));
  ASSERT_TRUE(model.ok()) << model.status().message();
  for (const auto &node : (*model)->graph().node()) {
    ASSERT_EQ(node.input_size(), 3);
    EXPECT_EQ(node.input(2), "l.bias");
  }
}

} // namespace
} // namespace pipec::onnx
