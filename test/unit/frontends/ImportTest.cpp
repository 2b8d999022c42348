// What single nodes become: static results, folded shape arithmetic, messages.
#include "test/unit/frontends/ImportHelper.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pipec::onnx {
namespace {

using namespace testing;

Imported imported(const ModelBuilder &builder, const ScratchFolder &folder,
                  ImportOptions options = {}) {
  return importFile(folder.write("m.onnx", builder.bytes()), options);
}

/// One node on a float input x [2, 3].
ModelBuilder oneNode(const std::string &op, int64_t opset = 18) {
  ModelBuilder builder(opset);
  builder.input("x", {"2", "3"});
  builder.node(op, {"x"}, {"y"}, "the_node");
  builder.output("y");
  return builder;
}

const Tensor kX = floatTensor({2, 3}, {1, -2, 3, -4, 5, -6});

TEST(Import, AxesAreAnAttributeOrAnInput) {
  ScratchFolder folder;
  ModelBuilder old = oneNode("ReduceMean", 13);
  ModelBuilder::attribute(old.graph()->mutable_node(0), "axes",
                          std::vector<int64_t>{-1});
  ModelBuilder fresh = oneNode("ReduceMean", 18);
  fresh.ints("axes", {1}, {-1});
  fresh.graph()->mutable_node(0)->add_input("axes");
  for (const ModelBuilder *builder : {&old, &fresh}) {
    Imported result = imported(*builder, folder);
    ASSERT_TRUE(result.ok()) << result.message();
    auto out = result.run({{"x", kX}});
    ASSERT_TRUE(out.ok());
    EXPECT_EQ((*out)[0].shape(), (std::vector<int64_t>{2, 1}));
    EXPECT_FLOAT_EQ(floatsOf((*out)[0])[0], 2.0f / 3.0f);
  }
}

TEST(Import, LpPoolWithCeilMode) {
  ScratchFolder folder;
  ModelBuilder builder(18);
  builder.input("x", {"1", "1", "5"});
  auto *node = builder.node("LpPool", {"x"}, {"y"});
  ModelBuilder::attribute(node, "kernel_shape", std::vector<int64_t>{4});
  ModelBuilder::attribute(node, "strides", std::vector<int64_t>{3});
  ModelBuilder::attribute(node, "ceil_mode", 1);
  builder.output("y");
  Imported result = imported(builder, folder);
  ASSERT_TRUE(result.ok()) << result.message();
  auto out = result.run({{"x", floatTensor({1, 1, 5}, {1, 1, 1, 3, -4})}});
  ASSERT_TRUE(out.ok());
  const std::vector<float> y = floatsOf((*out)[0]);
  ASSERT_EQ(y.size(), 2u);
  EXPECT_FLOAT_EQ(y[0], std::sqrt(12.0f));
  EXPECT_FLOAT_EQ(y[1], 5);
}

// 1 + 2^-11 lies between two f16 numbers, and 2^-11 more is one of them.
TEST(Import, AGemmInHalfPrecisionIsRoundedOnce) {
  ScratchFolder folder;
  for (bool widened : {false, true}) {
    ModelBuilder builder(18);
    builder.input("x", {"1", "2"}, ::onnx::TensorProto::FLOAT16);
    for (const char *name : {"w", "c"}) {
      auto *tensor = builder.graph()->add_initializer();
      tensor->set_name(name);
      tensor->set_data_type(::onnx::TensorProto::FLOAT16);
      if (*name == 'w')
        tensor->add_dims(2);
      tensor->add_dims(1);
      for (int bits : {0x3c00, 0x1000}) // 1, 2^-11
        if (*name == 'w' || bits == 0x1000)
          tensor->add_int32_data(bits);
    }
    builder.node("Gemm", {"x", "w", "c"}, {widened ? "z" : "y"});
    if (widened)
      ModelBuilder::attribute(builder.node("Cast", {"z"}, {"y"}), "to",
                              int64_t(::onnx::TensorProto::FLOAT));
    builder.output("y", {},
                   widened ? ::onnx::TensorProto::FLOAT
                           : ::onnx::TensorProto::FLOAT16);
    Imported result = imported(builder, folder);
    ASSERT_TRUE(result.ok()) << result.message();
    const uint16_t ones[] = {0x3c00, 0x3c00};
    auto out = result.run({{"x", *Tensor::copyOf({DType::F16, {1, 2}}, ones)}});
    ASSERT_TRUE(out.ok());
    // Nor is it rounded where the graph goes on in f32.
    if (widened)
      EXPECT_EQ((*out)[0].as<float>()[0], 1 + std::ldexp(1.0f, -10));
    else
      EXPECT_EQ((*out)[0].as<uint16_t>()[0], 0x3c01);
  }
}

TEST(Import, NegativeStepsTurnRound) {
  ScratchFolder folder;
  ModelBuilder builder = oneNode("Slice");
  builder.ints("starts", {1}, {-1});
  builder.ints("ends", {1}, {INT64_MIN});
  builder.ints("axes", {1}, {1});
  builder.ints("steps", {1}, {-2});
  for (const char *name : {"starts", "ends", "axes", "steps"})
    builder.graph()->mutable_node(0)->add_input(name);
  Imported result = imported(builder, folder);
  ASSERT_TRUE(result.ok()) << result.message();
  auto out = result.run({{"x", kX}});
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(floatsOf((*out)[0]), (std::vector<float>{3, 1, -6, -4}));
}

TEST(Import, ShapeArithmeticLeavesNoOps) {
  ScratchFolder folder;
  ModelBuilder builder;
  builder.input("x", {"batch", "6"});
  builder.node("Shape", {"x"}, {"s"});
  builder.ints("zero", {}, {0});
  builder.node("Gather", {"s", "zero"}, {"n"});
  builder.ints("axis0", {1}, {0});
  builder.node("Unsqueeze", {"n", "axis0"}, {"n1"});
  builder.ints("rest", {2}, {2, -1});
  ModelBuilder::attribute(builder.node("Concat", {"n1", "rest"}, {"to"}),
                          "axis", 0);
  builder.node("Reshape", {"x", "to"}, {"y"});
  builder.output("y");
  Imported result = imported(builder, folder);
  ASSERT_TRUE(result.ok()) << result.message();
  EXPECT_EQ(result.graph().getBody().front().getOperations().size(), 2u)
      << result.text();
  EXPECT_NE(result.text().find("tensor<2x2x3xf32>"), std::string::npos);
}

TEST(Import, BakedBatchSizeNamesTheReshape) {
  ScratchFolder folder;
  ModelBuilder builder;
  builder.input("x", {"batch", "4"});
  builder.ints("to", {3}, {3, 2, 2});
  builder.node("Reshape", {"x", "to"}, {"y"}, "node_view");
  builder.output("y");
  Imported result = imported(builder, folder);
  ASSERT_FALSE(result.ok());
  for (const char *text :
       {"m.onnx", "node_view", "Reshape", "[2, 4]", "[3, 2, 2]", "batch"})
    EXPECT_NE(result.message().find(text), std::string::npos)
        << result.message();
}

TEST(Import, DataDependentShapeNamesTheInput) {
  ScratchFolder folder;
  ModelBuilder builder = oneNode("Reshape");
  builder.input("to", {"2"}, ::onnx::TensorProto::INT64);
  builder.graph()->mutable_node(0)->add_input("to");
  Imported result = imported(builder, folder);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.message().find("'to'"), std::string::npos);
  EXPECT_NE(result.message().find("constants"), std::string::npos);
}

TEST(Import, AllUnsupportedOperatorsAreListed) {
  ScratchFolder folder;
  ModelBuilder builder;
  builder.input("x", {"2", "3"});
  builder.node("NonMaxSuppression", {"x"}, {"a"}, "first_nms");
  builder.node("NonMaxSuppression", {"a"}, {"b"}, "second_nms");
  builder.node("Fused", {"b"}, {"y"})->set_domain("com.example");
  builder.output("y");
  Imported result = imported(builder, folder);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status.getCode(), StatusCode::Unsupported);
  for (const char *text :
       {"NonMaxSuppression (2 nodes", "first_nms", "com.example::Fused"})
    EXPECT_NE(result.message().find(text), std::string::npos)
        << result.message();
}

TEST(Import, OperatorsBeforeTheirOpsetAreUnsupported) {
  ScratchFolder folder;
  EXPECT_FALSE(imported(oneNode("Gelu", 19), folder).ok());
  EXPECT_TRUE(imported(oneNode("Gelu", 20), folder).ok());
}

TEST(Import, WrongOperandsAreErrorsWithTheNode) {
  ScratchFolder folder;
  ModelBuilder builder;
  builder.input("x", {"2", "3"});
  builder.input("w", {"4", "5"});
  builder.node("Add", {"x", "w"}, {"y"}, "bad_add");
  builder.output("y");
  Imported result = imported(builder, folder);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.message().find("bad_add"), std::string::npos);
}

TEST(Import, MissingInputsAreErrors) {
  ScratchFolder folder;
  for (const char *op : {"Add",
                         "MatMul",
                         "Gemm",
                         "Conv",
                         "Gather",
                         "Where",
                         "Reshape",
                         "Slice",
                         "Pad",
                         "TopK",
                         "OneHot",
                         "BatchNormalization",
                         "LayerNormalization",
                         "Expand",
                         "Tile",
                         "CumSum",
                         "ScatterND",
                         "Range",
                         "Concat",
                         "Split"}) {
    Imported result = imported(oneNode(op), folder);
    // Split and Concat of one tensor are well formed.
    if (!result.ok()) {
      EXPECT_NE(result.message().find("the_node"), std::string::npos)
          << result.message();
    }
  }
}

/// Weight standardisation as the TorchScript exporter writes it: in training
/// mode in any file. Of the batch it is refused where the model is run.
TEST(Import, BatchNormOfAWeightIsItsOwn) {
  for (bool ofWeights : {true, false}) {
    ScratchFolder folder;
    ModelBuilder builder(17);
    builder.input("x", {"1", "2", "2"});
    builder.floats("w", {1, 2, 2}, {1, 3, -2, 2});
    builder.floats("scale", {2}, {1, 3});
    builder.floats("shift", {2}, {0, 1});
    builder.floats("mean", {2}, {0, 0});
    builder.floats("variance", {2}, {1, 1});
    auto *norm = builder.node(
        "BatchNormalization",
        {ofWeights ? "w" : "x", "scale", "shift", "mean", "variance"}, {"n"});
    ModelBuilder::attribute(norm, "training_mode", 1);
    ModelBuilder::attribute(norm, "epsilon", 0.0f);
    builder.node("Add", {"x", "n"}, {"y"});
    builder.output("y");
    Imported result = imported(builder, folder);
    ASSERT_EQ(result.ok(), ofWeights) << result.message();
    if (!ofWeights)
      continue;
    auto out = result.run({{"x", floatTensor({1, 2, 2}, {0, 0, 0, 0})}});
    ASSERT_TRUE(out.ok()) << out.status().message();
    EXPECT_EQ(floatsOf((*out)[0]), (std::vector<float>{-1, 1, -2, 4}));
  }
}

/// As torch.onnx.export(training=TrainingMode.TRAINING) writes it.
ModelBuilder trainedDropout() {
  ModelBuilder builder(17);
  builder.input("x", {"batch", "4"});
  builder.floats("ratio", {}, {0.1f});
  builder.initializer("mode", ::onnx::TensorProto::BOOL, {},
                      std::vector<uint8_t>{1});
  builder.node("Dropout", {"x", "ratio", "mode"}, {"y", "mask"},
               "/drop/Dropout");
  builder.output("y");
  return builder;
}

TEST(Import, MaskOfADropoutMayStayUnread) {
  ScratchFolder folder;
  Imported result = imported(trainedDropout(), folder);
  ASSERT_TRUE(result.ok()) << result.message();
  EXPECT_EQ(result.count("dropout"), 1) << result.text();
}

TEST(Import, MaskOfADropoutThatIsReadIsRefused) {
  ScratchFolder folder;
  ModelBuilder builder = trainedDropout();
  builder.output("mask", {}, ::onnx::TensorProto::BOOL);
  Imported result = imported(builder, folder);
  ASSERT_FALSE(result.ok());
  for (const char *text : {"m.onnx", "/drop/Dropout", "module drop", "'mask'",
                           "training mode", "eval mode"})
    EXPECT_NE(result.message().find(text), std::string::npos)
        << result.message();
}

TEST(Import, ValuesBeyondAllMemoryNameTheirNode) {
  ScratchFolder folder;
  for (std::string op : {"ConstantOfShape", "Expand", "Tile"}) {
    ModelBuilder builder(17);
    builder.input("x", {"1", "4"});
    builder.floats("one", {1, 1}, {1});
    builder.ints("size", {2}, {int64_t(1) << 31, int64_t(1) << 31});
    std::vector<std::string> inputs{"one", "size"};
    if (op == "ConstantOfShape")
      inputs.erase(inputs.begin());
    builder.node(op, inputs, {"y"}, "/big/" + op);
    builder.output("y");
    Imported result = imported(builder, folder);
    ASSERT_FALSE(result.ok());
    for (const std::string &text :
         {std::string("m.onnx"), "'/big/" + op + "'", "(" + op,
          std::string("module big"), std::string("2147483648")})
      EXPECT_NE(result.message().find(text), std::string::npos)
          << result.message();
  }
}

TEST(Import, OutputTypeMustAgree) {
  ScratchFolder folder;
  ModelBuilder builder = oneNode("Relu");
  builder.graph()
      ->mutable_output(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->set_elem_type(::onnx::TensorProto::INT64);
  Imported result = imported(builder, folder);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.message().find("'y'"), std::string::npos);
}

TEST(Import, SameInputSameText) {
  ScratchFolder folder;
  ModelBuilder builder = oneNode("Softmax");
  EXPECT_EQ(imported(builder, folder).text(), imported(builder, folder).text());
}

TEST(Import, EinsumIsContraction) {
  ScratchFolder folder;
  ModelBuilder builder;
  builder.input("a", {"2", "3"});
  builder.input("b", {"3", "2"});
  auto *node = builder.node("Einsum", {"a", "b"}, {"y"});
  auto *equation = node->add_attribute();
  equation->set_name("equation");
  equation->set_type(::onnx::AttributeProto::STRING);
  equation->set_s("ij,jk->ki");
  builder.output("y");
  Imported result = imported(builder, folder);
  ASSERT_TRUE(result.ok()) << result.message();
  auto out = result.run({{"a", floatTensor({2, 3}, {1, 2, 3, 4, 5, 6})},
                         {"b", floatTensor({3, 2}, {1, 0, 0, 1, 1, 1})}});
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(floatsOf((*out)[0]), (std::vector<float>{4, 10, 5, 11}));
}

} // namespace
} // namespace pipec::onnx
