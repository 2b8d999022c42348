// Names, orientation and ties of weights, on models made for the case.
#include "frontends/onnx/names/Names.h"

#include "test/unit/frontends/ImportHelper.h"

#include <gtest/gtest.h>

namespace pipec::onnx {
namespace {

using namespace testing;

std::vector<float> ramp(int count) {
  std::vector<float> values(count);
  for (int i = 0; i < count; ++i)
    values[i] = static_cast<float>(i);
  return values;
}

/// A Linear without its name: val_0 [in, out] under aten.linear.
ModelBuilder foldedLinear() {
  ModelBuilder builder;
  builder.input("x", {"batch", "2"});
  builder.signature("p_fc_weight: PARAMETER target='fc.weight'\n"
                    "p_fc_bias: PARAMETER target='fc.bias'\n"
                    "p_gone: PARAMETER target='gone.weight'\n");
  builder.floats("val_0", {2, 3}, {1, 2, 3, 4, 5, 6});
  builder.floats("fc.bias", {3}, {0, 0, 1});
  auto *product = builder.node("MatMul", {"x", "val_0"}, {"a"});
  auto *sum = builder.node("Add", {"a", "fc.bias"}, {"y"});
  for (auto *node : {product, sum})
    fxNode(node, "fc",
           "aten.linear.default](args = (%x, %p_fc_weight, %p_fc_bias)");
  builder.output("y");
  return builder;
}

TEST(Weights, FoldedLinearIsDeclaredAsPyTorchHasIt) {
  ScratchFolder folder;
  std::string path = folder.write("m.onnx", foldedLinear().bytes());
  Imported result = importFile(path);
  ASSERT_TRUE(result.ok()) << result.message();
  auto weights = result.weights();
  ASSERT_EQ(weights.count("fc.weight"), 1u) << result.text();
  pipe::WeightOp weight = weights.at("fc.weight");
  EXPECT_EQ(pipe::toTensorType(weight.getType()).shape,
            (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(weight.getSource().getPermutation(),
            (llvm::ArrayRef<int64_t>{1, 0}));
  EXPECT_EQ(result.count("transpose"), 0) << result.text();
  auto out = result.run({{"x", floatTensor({2, 2}, {1, 0, 0, 1})}});
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(floatsOf((*out)[0]), (std::vector<float>{1, 2, 4, 4, 5, 7}));
  EXPECT_EQ((*OnnxModel::open(path))->foldedParameters(),
            (std::vector<std::string>{"gone.weight"}));
}

TEST(Weights, SlopeOfPReluIsAVector) {
  ScratchFolder folder;
  for (std::vector<int64_t> shape :
       {std::vector<int64_t>{1, 4, 1, 1}, {4, 1, 1}, {1, 4}}) {
    ModelBuilder builder;
    builder.input("x", {"2", "4", "4", "4"});
    builder.signature("p_act_weight: PARAMETER target='act.weight'\n");
    builder.floats("val_0", shape, ramp(4));
    fxNode(builder.node("PRelu", {"x", "val_0"}, {"y"}), "act",
           "aten.prelu.default](args = (%x, %p_act_weight)");
    builder.output("y");
    Imported result = importFile(folder.write("m.onnx", builder.bytes()));
    ASSERT_TRUE(result.ok()) << result.message();
    ASSERT_EQ(result.weights().count("act.weight"), 1u) << result.text();
    EXPECT_EQ(
        pipe::toTensorType(result.weights().at("act.weight").getType()).shape,
        (std::vector<int64_t>{4}));
  }
}

/// nn.Bilinear(2, 3, 2) without a bias: val_0 is [in1, out * in2].
ModelBuilder bilinear() {
  ModelBuilder builder;
  builder.input("a", {"1", "2"});
  builder.input("b", {"1", "3"});
  builder.signature("p_f_weight: PARAMETER target='f.weight'\n");
  // weight[o][i][j] = 100 o + 10 i + j, at [i][o][j].
  builder.floats("val_0", {2, 6},
                 {0, 1, 2, 100, 101, 102, 10, 11, 12, 110, 111, 112});
  builder.ints("sizes", {3}, {-1, 2, 3});
  builder.ints("last", {1}, {-1});
  for (auto *node : {builder.node("MatMul", {"a", "val_0"}, {"p"}),
                     builder.node("Reshape", {"p", "sizes"}, {"q"}),
                     builder.node("Unsqueeze", {"b", "last"}, {"c"}),
                     builder.node("MatMul", {"q", "c"}, {"r"}),
                     builder.node("Squeeze", {"r", "last"}, {"y"})})
    fxNode(node, "f", "aten.bilinear.default](args = (%a, %b, %p_f_weight)");
  builder.value("q", {"1", "2", "3"});
  builder.output("y");
  return builder;
}

TEST(Weights, BilinearIsDeclaredAsPyTorchHasIt) {
  ScratchFolder folder;
  Imported result = importFile(folder.write("m.onnx", bilinear().bytes()));
  ASSERT_TRUE(result.ok()) << result.message();
  ASSERT_EQ(result.weights().count("f.weight"), 1u) << result.text();
  pipe::WeightOp weight = result.weights().at("f.weight");
  EXPECT_EQ(pipe::toTensorType(weight.getType()).shape,
            (std::vector<int64_t>{2, 2, 3}));
  EXPECT_EQ(
      floatsOf(*result.declared(weight)),
      (std::vector<float>{0, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112}));
  auto out = result.run({{"a", floatTensor({1, 2}, {1, 2})},
                         {"b", floatTensor({1, 3}, {1, 0, 1})}});
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(floatsOf((*out)[0]), (std::vector<float>{46, 646}));
}

/// Too large to be computed whole: [in1, out, in2], which a Reshape reads.
TEST(Weights, LargeBilinearIsDeclaredAsPyTorchHasIt) {
  ScratchFolder folder;
  ModelBuilder builder = bilinear();
  builder.floats("val_1", {2, 2, 3},
                 {0, 1, 2, 100, 101, 102, 10, 11, 12, 110, 111, 112});
  builder.foldedFrom("val_1", "['f.weight']");
  builder.graph()->mutable_initializer(0)->Swap(
      builder.graph()->mutable_initializer(3));
  builder.graph()->mutable_initializer()->RemoveLast();
  builder.ints("flat", {2}, {2, 6});
  auto *flat = builder.node("Reshape", {"val_1", "flat"}, {"val_0"});
  fxNode(flat, "f", "aten.bilinear.default](args = (%a, %b, %p_f_weight)");
  auto *nodes = builder.graph()->mutable_node();
  for (int n = nodes->size() - 1; n > 0; --n)
    nodes->SwapElements(n, n - 1);
  Imported result = importFile(folder.write("m.onnx", builder.bytes()));
  ASSERT_TRUE(result.ok()) << result.message();
  ASSERT_EQ(result.weights().count("f.weight"), 1u) << result.text();
  EXPECT_EQ(
      floatsOf(*result.declared(result.weights().at("f.weight"))),
      (std::vector<float>{0, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112}));
  auto out = result.run({{"a", floatTensor({1, 2}, {1, 2})},
                         {"b", floatTensor({1, 3}, {1, 0, 1})}});
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(floatsOf((*out)[0]), (std::vector<float>{46, 646}));
}

/// A Linear over a computed table of its weight's shape, and a table that two
/// places claim: names do not decide what is computed.
TEST(Weights, TableBesideAWeightOfItsShapeIsAConstant) {
  ScratchFolder folder;
  ModelBuilder builder;
  builder.input("x", {"2", "2"});
  builder.signature("p_l_weight: PARAMETER target='l.weight'\n");
  builder.floats("l.weight", {2, 2}, {1, 2, 3, 4});
  builder.floats("cat", {2, 2}, {5, 6, 7, 8});
  auto *product = builder.node("Gemm", {"cat", "l.weight"}, {"h"});
  fxNode(product, "l", "aten.linear.default](args = (%cat, %p_l_weight)");
  fxNode(builder.node("Add", {"x", "h"}, {"y"}), "",
         "aten.add.Tensor](args = (%x, %linear)");
  builder.output("y");
  Imported result = importFile(folder.write("m.onnx", builder.bytes()));
  ASSERT_TRUE(result.ok()) << result.message();
  auto out = result.run({{"x", floatTensor({2, 2}, {0, 0, 0, 0})}});
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(floatsOf((*out)[0]), (std::vector<float>{23, 34, 31, 46}));
}

TEST(Weights, OneNameOfTwoTensorsIsThatOfTheFirst) {
  ScratchFolder folder;
  ModelBuilder builder;
  builder.input("x", {"1", "2"});
  builder.signature("p_l_weight: PARAMETER target='l.weight'\n");
  builder.floats("val_0", {2, 2}, {1, 2, 3, 4});
  builder.floats("val_1", {2, 2}, {5, 6, 7, 8});
  for (auto *node : {builder.node("MatMul", {"x", "val_0"}, {"h"}),
                     builder.node("MatMul", {"h", "val_1"}, {"y"})})
    fxNode(node, "l", "aten.linear.default](args = (%x, %p_l_weight)");
  builder.output("y");
  std::string path = folder.write("m.onnx", builder.bytes());
  Imported result = importFile(path);
  ASSERT_TRUE(result.ok()) << result.message();
  auto out = result.run({{"x", floatTensor({1, 2}, {1, 0})}});
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(floatsOf((*out)[0]), (std::vector<float>{19, 22}));
  const auto computed = (*OnnxModel::open(path))->trainingLosses().computed;
  ASSERT_EQ(computed.size(), 1u);
  EXPECT_EQ(computed[0].name, "val_1");
  EXPECT_EQ(computed[0].parameters, (std::vector<std::string>{"l.weight"}));
}

/// aten.index brings the axes that have indices to the front.
TEST(Weights, IndexedParameterIsDeclaredAsPyTorchHasIt) {
  ScratchFolder folder;
  for (bool front : {true, false}) {
    ModelBuilder builder;
    builder.input("i", {"1", "1"}, ::onnx::TensorProto::INT64);
    builder.signature("p_w: PARAMETER target='w'\n");
    builder.floats("val_0", {2, 3}, {1, 2, 3, 4, 5, 6});
    builder.foldedFrom("val_0", "['w']");
    fxNode(builder.node("GatherND", {"val_0", "i"}, {"y"}), "",
           std::string("aten.index.Tensor](args = (%p_w, [") +
               (front ? "%i" : "None, %i") + "])");
    builder.output("y");
    Imported result = importFile(folder.write("m.onnx", builder.bytes()));
    ASSERT_TRUE(result.ok()) << result.message();
    ASSERT_EQ(result.weights().count("w"), 1u) << result.text();
    EXPECT_EQ(
        pipe::toTensorType(result.weights().at("w").getType()).shape,
        (front ? std::vector<int64_t>{2, 3} : std::vector<int64_t>{3, 2}));
  }
}

TEST(Weights, BilinearOfUnknownSizesIsAConstant) {
  ScratchFolder folder;
  ModelBuilder builder = bilinear();
  builder.graph()->clear_value_info();
  std::string path = folder.write("m.onnx", builder.bytes());
  EXPECT_EQ((*OnnxModel::open(path))->foldedParameters(),
            (std::vector<std::string>{"f.weight"}));
}

TEST(Weights, BuffersOfNoStateDictAreConstants) {
  ScratchFolder folder;
  ModelBuilder builder;
  builder.input("x", {"batch", "32"});
  builder.signature("b_kept: BUFFER target='kept' persistent=True\n"
                    "b_table: BUFFER target='table' persistent=False\n");
  builder.floats("kept", {32}, ramp(32));
  builder.floats("table", {32}, ramp(32));
  fxNode(builder.node("Add", {"x", "kept"}, {"a"}), "",
         "aten.add.Tensor](args = (%x, %b_kept)");
  fxNode(builder.node("Add", {"a", "table"}, {"y"}), "",
         "aten.add.Tensor](args = (%a, %b_table)");
  builder.output("y");
  Imported result = importFile(folder.write("m.onnx", builder.bytes()));
  ASSERT_TRUE(result.ok()) << result.message();
  auto weights = result.weights();
  EXPECT_EQ(weights.at("kept").getKind(), pipe::WeightKind::buffer);
  EXPECT_EQ(weights.at("table").getKind(), pipe::WeightKind::constant);
}

TEST(Weights, FoldedBuffersAreListedBehindParameters) {
  ScratchFolder folder;
  ModelBuilder builder = foldedLinear();
  builder.proto.mutable_graph()->clear_metadata_props();
  builder.signature(
      "b_idx: BUFFER target='idx' persistent=True\n"
      "b_table: BUFFER target='table' persistent=False\n"
      "b_n: BUFFER target='bn.num_batches_tracked' persistent=True\n"
      "p_fc_weight: PARAMETER target='fc.weight'\n"
      "p_fc_bias: PARAMETER target='fc.bias'\n"
      "p_gone: PARAMETER target='gone.weight'\n");
  std::string path = folder.write("m.onnx", builder.bytes());
  EXPECT_EQ((*OnnxModel::open(path))->foldedParameters(),
            (std::vector<std::string>{"gone.weight", "idx (buffer)"}));
}

TEST(Weights, MergedParametersAreApart) {
  ScratchFolder folder;
  ModelBuilder builder;
  builder.input("x", {"batch", "4"});
  builder.signature("p_a_weight: PARAMETER target='a.weight'\n"
                    "p_b_weight: PARAMETER target='b.weight'\n");
  builder.floats("a.weight", {4}, {1, 1, 1, 1});
  for (std::string name : {"a", "b"}) {
    auto *node = builder.node("Mul", {name == "a" ? "x" : "a_out", "a.weight"},
                              {name + "_out"});
    fxNode(node, name, "aten.mul.Tensor](args = (%x, %p_" + name + "_weight)");
  }
  builder.output("b_out");
  Imported result = importFile(folder.write("m.onnx", builder.bytes()));
  ASSERT_TRUE(result.ok()) << result.message();
  auto weights = result.weights();
  ASSERT_EQ(weights.size(), 2u) << result.text();
  EXPECT_EQ(weights.at("a.weight").getSource(),
            weights.at("b.weight").getSource());
  EXPECT_FALSE(weights.at("b.weight").getAliases());
}

/// Kinds by name; "" where nothing has the name.
std::string kindOf(const Imported &model, const std::string &name) {
  auto weights = model.weights();
  auto found = weights.find(name);
  return found == weights.end()
             ? ""
             : pipe::stringifyWeightKind(found->second.getKind()).str();
}

/// The exporter's optimizer keeps one of the fresh tensors `one`, `zero` for
/// all; `call` is the norm's fx call.
Imported normOfFreshTensors(const std::string &op,
                            const std::vector<std::string> &operands,
                            const std::string &call) {
  ScratchFolder folder;
  ModelBuilder builder;
  builder.input("x", {"2", "3"});
  builder.signature("p_n_weight: PARAMETER target='n.weight'\n"
                    "p_n_bias: PARAMETER target='n.bias'\n"
                    "p_one: PARAMETER target='one'\n"
                    "p_zero: PARAMETER target='zero'\n"
                    "b_n_mean: BUFFER target='n.running_mean' persistent=True\n"
                    "b_n_var: BUFFER target='n.running_var' persistent=True\n");
  builder.floats("one", {3}, {1, 1, 1});
  builder.floats("zero", {3}, {0, 0, 0});
  std::vector<std::string> inputs{"x"};
  inputs.insert(inputs.end(), operands.begin(), operands.end());
  fxNode(builder.node(op, inputs, {"h"}), "n", call);
  fxNode(builder.node("Mul", {"h", "one"}, {"y"}), "",
         "aten.mul.Tensor](args = (%h, %p_one)");
  builder.output("y");
  return importFile(folder.write("m.onnx", builder.bytes()));
}

TEST(Weights, NormWithoutParametersReadsConstants) {
  struct Case {
    const char *op;
    std::vector<std::string> operands;
    const char *call;
  };
  const Case cases[] = {
      {"LayerNormalization",
       {"one", "zero"},
       "aten.layer_norm.default](args = (%x, [3], None, None, 1e-05, False)"},
      {"LayerNormalization",
       {"one"},
       "aten.native_layer_norm.default](args = (%x, [3], None, None, 1e-05)"},
      {"LayerNormalization",
       {"one"},
       "aten.layer_norm.default](args = (%x, [3])"},
      {"Mul", {"one"}, "aten.rms_norm.default](args = (%x, [3])"},
      {"Add",
       {"zero"},
       "aten.group_norm.default](args = (%x, 3, None, None, 1e-05, False)"}};
  for (const Case &one : cases) {
    SCOPED_TRACE(one.call);
    Imported result = normOfFreshTensors(one.op, one.operands, one.call);
    ASSERT_TRUE(result.ok()) << result.message();
    EXPECT_EQ(kindOf(result, "one"), "parameter") << result.text();
    EXPECT_EQ(kindOf(result, "n.weight"), "");
    EXPECT_EQ(result.count("load_weight"), 1) << result.text(); // of the Mul
  }
}

TEST(Weights, BatchNormOfFreshTensorsIsReadByPosition) {
  const char *const bare =
      "aten._native_batch_norm_legit_no_training.default](args = (%x, None, "
      "None, %b_n_mean, %b_n_var, 0.1, 1e-05)";
  const char *const full =
      "aten.batch_norm.default](args = (%x, %p_n_weight, %p_n_bias, %b_n_mean, "
      "%b_n_var, False, 0.1, 1e-05, False)";
  for (const char *call : {bare, full}) {
    SCOPED_TRACE(call);
    Imported result = normOfFreshTensors("BatchNormalization",
                                         {"one", "zero", "zero", "one"}, call);
    ASSERT_TRUE(result.ok()) << result.message();
    const char *parameter = call == full ? "parameter" : "";
    EXPECT_EQ(kindOf(result, "n.weight"), parameter) << result.text();
    EXPECT_EQ(kindOf(result, "n.bias"), parameter);
    EXPECT_EQ(kindOf(result, "n.running_mean"), "buffer");
    EXPECT_EQ(kindOf(result, "n.running_var"), "buffer");
    EXPECT_EQ(kindOf(result, "one"), "parameter");
    EXPECT_EQ(kindOf(result, "zero"), "");
  }
}

/// n.bias and running_mean are one initializer, under either name.
TEST(Weights, OwnNameOfANormGoesByPositionToo) {
  for (const char *kept : {"n.bias", "n.running_mean"}) {
    SCOPED_TRACE(kept);
    ScratchFolder folder;
    ModelBuilder builder;
    builder.input("x", {"2", "3"});
    builder.signature(
        "p_n_weight: PARAMETER target='n.weight'\n"
        "p_n_bias: PARAMETER target='n.bias'\n"
        "b_n_mean: BUFFER target='n.running_mean' persistent=True\n"
        "b_n_var: BUFFER target='n.running_var' persistent=True\n");
    builder.floats("n.weight", {3}, {1, 1, 1});
    builder.floats(kept, {3}, {0, 0, 0});
    fxNode(builder.node("BatchNormalization",
                        {"x", "n.weight", kept, kept, "n.weight"}, {"y"}),
           "n",
           "aten.cudnn_batch_norm.default](args = (%x, %p_n_weight, %p_n_bias, "
           "%b_n_mean, %b_n_var, False, 0.1, 1e-05)");
    builder.output("y");
    Imported result = importFile(folder.write("m.onnx", builder.bytes()));
    ASSERT_TRUE(result.ok()) << result.message();
    EXPECT_EQ(kindOf(result, "n.weight"), "parameter") << result.text();
    EXPECT_EQ(kindOf(result, "n.bias"), "parameter");
    EXPECT_EQ(kindOf(result, "n.running_mean"), "buffer");
    EXPECT_EQ(kindOf(result, "n.running_var"), "buffer");
  }
}

/// The exporter gives a convolution without a bias zeros, and its optimizer a
/// norm's fresh bias for them.
TEST(Weights, ConvolutionWithoutABiasReadsAConstant) {
  ScratchFolder folder;
  ModelBuilder builder;
  builder.input("x", {"1", "1", "4"});
  builder.signature("p_c_weight: PARAMETER target='c.weight'\n"
                    "p_shift: PARAMETER target='shift'\n");
  builder.floats("c.weight", {2, 1, 1}, {1, 2});
  builder.floats("shift", {2}, {0, 0});
  fxNode(builder.node("Conv", {"x", "c.weight", "shift"}, {"y"}), "c",
         "aten.convolution.default](args = (%x, %p_c_weight, None, [1], [0], "
         "[1], False, [0], 1)");
  builder.output("y");
  Imported result = importFile(folder.write("m.onnx", builder.bytes()));
  ASSERT_TRUE(result.ok()) << result.message();
  EXPECT_EQ(kindOf(result, "c.weight"), "parameter") << result.text();
  EXPECT_NE(kindOf(result, "shift"), "parameter") << result.text();
}

/// x ** 2 and a fresh scalar of 2 are one initializer; so are two scalars.
TEST(Weights, NumbersThatEqualAParameterAreConstants) {
  ScratchFolder folder;
  ModelBuilder builder;
  builder.input("x", {"2", "3"});
  builder.signature("p_a: PARAMETER target='a'\n"
                    "p_b: PARAMETER target='b'\n"
                    "p_w: PARAMETER target='w'\n");
  builder.floats("a", {}, {2});
  builder.floats("w", {3}, {1, 1, 1});
  fxNode(builder.node("Pow", {"x", "a"}, {"pow_1"}), "",
         "aten.pow.Tensor_Scalar](args = (%x, 2)");
  fxNode(builder.node("Mul", {"pow_1", "a"}, {"mul"}), "",
         "aten.mul.Tensor](args = (%pow_1, %p_a)");
  fxNode(builder.node("Mul", {"mul", "a"}, {"mul_1"}), "",
         "aten.mul.Tensor](args = (%mul, %p_b)");
  fxNode(builder.node("Mul", {"mul_1", "w"}, {"mul_2"}), "",
         "aten.mul.Tensor](args = (%mul_1, %ones)");
  fxNode(builder.node("Add", {"mul_2", "w"}, {"y"}), "",
         "aten.add.Tensor](args = (%mul_2, %p_w)");
  builder.output("y");
  Imported result = importFile(folder.write("m.onnx", builder.bytes()));
  ASSERT_TRUE(result.ok()) << result.message();
  for (const char *name : {"a", "b", "w"})
    EXPECT_EQ(kindOf(result, name), "parameter") << result.text();
  EXPECT_EQ(result.count("load_weight"), 3) << result.text();
}

/// b.bias equals a.bias, and the node that reads it for b is the optimizer's.
TEST(Weights, NodeWithoutACallReadsTheParameterOfItsReaders) {
  ScratchFolder folder;
  ModelBuilder builder;
  builder.input("x", {"2", "2"});
  builder.signature("p_a_bias: PARAMETER target='a.bias'\n"
                    "p_b_bias: PARAMETER target='b.bias'\n"
                    "p_c_bias: PARAMETER target='c.bias'\n");
  builder.floats("a.bias", {2}, {0, 0});
  builder.floats("c.bias", {2}, {1, 1});
  fxNode(builder.node("Add", {"x", "a.bias"}, {"add"}), "a",
         "aten.add.Tensor](args = (%x, %p_a_bias)");
  auto *split = builder.node("Split", {"a.bias"}, {"s0", "s1"});
  ModelBuilder::attribute(split, "num_outputs", 2);
  fxNode(builder.node("Add", {"add", "s0"}, {"add_1"}), "b",
         "aten.add.Tensor](args = (%add, %getitem)");
  fxNode(builder.node("Add", {"add_1", "s1"}, {"add_2"}), "b",
         "aten.add.Tensor](args = (%add_1, %getitem_1)");
  // Nothing else reads c.bias: it is no merged one.
  builder.node("Neg", {"c.bias"}, {"n"});
  fxNode(builder.node("Add", {"add_2", "n"}, {"y"}), "b",
         "aten.add.Tensor](args = (%add_2, %neg)");
  builder.output("y");
  Imported result = importFile(folder.write("m.onnx", builder.bytes()));
  ASSERT_TRUE(result.ok()) << result.message();
  for (const char *name : {"a.bias", "b.bias", "c.bias"})
    EXPECT_EQ(kindOf(result, name), "parameter") << result.text();
  EXPECT_EQ(result.count("load_weight"), 3) << result.text();
}

/// Two layers that were equal, and of which the exporter left one: said where
/// the model is trained, and only where no record says what became of the
/// other.
TEST(Weights, MergedLayersAreSaidInTraining) {
  for (bool recorded : {false, true}) {
    ScratchFolder folder;
    ModelBuilder builder;
    builder.input("x", {"2", "2"});
    builder.signature("p_l_0_bias: PARAMETER target='l.0.bias'\n"
                      "p_l_1_bias: PARAMETER target='l.1.bias'\n");
    builder.floats("l.0.bias", {2}, {0, 0});
    fxNode(builder.node("Add", {"x", "l.0.bias"}, {"add"}), "l.0",
           "aten.add.Tensor](args = (%x, %p_l_0_bias)");
    builder.node("Add", {"add", "add"}, {"y"});
    if (recorded)
      builder.foldedFrom("z", "['l.1.bias']");
    builder.output("y");
    const std::string path = folder.write("m.onnx", builder.bytes());
    ImportOptions options;
    EXPECT_EQ(importFile(path, options).notices.size(), 0u);
    options.training = true;
    const auto notices = importFile(path, options).notices;
    ASSERT_EQ(notices.size(), recorded ? 0u : 1u);
    if (!recorded) {
      EXPECT_EQ(notices[0].find("warning: the exporter may have made l.1.bias "
                                "one with l.0.bias"),
                0u)
          << notices[0];
    }
  }
}

/// BERT's head: `h.bias` has no tensor of its own. `tied`: the decoder
/// multiplies by the embedding table.
Imported predictionHead(bool tied, std::vector<std::string> &folded) {
  ScratchFolder folder;
  ModelBuilder builder;
  builder.input("ids", {"2"}, ::onnx::TensorProto::INT64);
  builder.signature("p_emb_weight: PARAMETER target='emb.weight'\n"
                    "p_h_bias: PARAMETER target='h.bias'\n"
                    "p_h_dense_weight: PARAMETER target='h.dense.weight'\n"
                    "p_h_dense_bias: PARAMETER target='h.dense.bias'\n"
                    "p_h_dec_weight: PARAMETER target='h.dec.weight'\n"
                    "p_h_dec_bias: PARAMETER target='h.dec.bias'\n");
  builder.floats("emb.weight", {2, 2}, {1, 2, 3, 4});
  builder.floats("h.dense.weight", {2, 2}, {1, 2, 3, 5});
  builder.floats("h.dense.bias", {2}, {1, 2});
  builder.floats("h.dec.bias", {2}, {3, 4});
  std::string matrix = "emb.weight", placeholder = "p_emb_weight";
  if (!tied) {
    builder.floats("h.dec.weight", {2, 2}, {1, 2, 3, 6});
    matrix = "h.dec.weight";
    placeholder = "p_h_dec_weight";
  }
  fxNode(builder.node("Gather", {"emb.weight", "ids"}, {"embedding"}), "emb",
         "aten.embedding.default](args = (%p_emb_weight, %ids)");
  auto *dense = builder.node(
      "Gemm", {"embedding", "h.dense.weight", "h.dense.bias"}, {"linear"});
  fxNode(dense, "h.dense",
         "aten.linear.default](args = (%embedding, %p_h_dense_weight, "
         "%p_h_dense_bias)");
  auto *decoder = builder.node("Gemm", {"linear", matrix, "h.dec.bias"}, {"y"});
  fxNode(decoder, "h.dec",
         "aten.linear.default](args = (%linear, %" + placeholder +
             ", %p_h_dec_bias)");
  for (auto *node : {dense, decoder})
    ModelBuilder::attribute(node, "transB", 1);
  builder.output("y");
  std::string path = folder.write("m.onnx", builder.bytes());
  folded = (*OnnxModel::open(path))->foldedParameters();
  return importFile(path);
}

TEST(Ties, BiasOfAHeadIsThatOfTheTiedChild) {
  std::vector<std::string> folded;
  Imported tied = predictionHead(true, folded);
  ASSERT_TRUE(tied.ok()) << tied.message();
  EXPECT_EQ(folded, std::vector<std::string>());
  auto weights = tied.weights();
  ASSERT_EQ(weights.count("h.bias"), 1u) << tied.text();
  auto aliases = weights.at("h.bias").getAliases();
  ASSERT_TRUE(aliases && aliases->size() == 1) << tied.text();
  EXPECT_EQ(mlir::cast<mlir::StringAttr>((*aliases)[0]).getValue(),
            "h.dec.bias");
  EXPECT_EQ(weights.count("h.dense.bias"), 1u);
  Imported apart = predictionHead(false, folded);
  ASSERT_TRUE(apart.ok()) << apart.message();
  EXPECT_EQ(folded, std::vector<std::string>{"h.bias"});
  EXPECT_FALSE(apart.weights().at("h.dec.bias").getAliases());
  EXPECT_FALSE(apart.weights().at("h.dense.bias").getAliases());
}

/// Two modules read a table that a third, never called, registered as well
/// (BART's `model.shared`); `gone` is another that the file lacks.
ModelBuilder uncalledTable(const std::string &uncalled) {
  ModelBuilder builder;
  builder.input("ids", {"2"}, ::onnx::TensorProto::INT64);
  std::string list;
  for (const std::string &module :
       {uncalled, std::string("model.enc.emb"), std::string("model.dec.emb"),
        std::string("gone")}) {
    std::string placeholder = "p_" + module + "_weight";
    std::replace(placeholder.begin(), placeholder.end(), '.', '_');
    list += placeholder + ": PARAMETER target='" + module + ".weight'\n";
  }
  builder.signature(list);
  builder.floats("model.dec.emb.weight", {2, 2}, {1, 2, 3, 4});
  for (const char *module : {"enc", "dec"})
    fxNode(builder.node("Gather", {"model.dec.emb.weight", "ids"}, {module}),
           std::string("model.") + module + ".emb",
           "aten.embedding.default](args = (%p_model_dec_emb_weight, %ids)");
  builder.node("Add", {"enc", "dec"}, {"y"});
  builder.output("y");
  return builder;
}

std::vector<std::string> aliasesOf(const Imported &result,
                                   const std::string &name) {
  std::vector<std::string> names;
  auto weights = result.weights();
  auto found = weights.find(name);
  if (found != weights.end() && found->second.getAliases())
    for (auto alias :
         found->second.getAliases()->getAsValueRange<mlir::StringAttr>())
      names.push_back(alias.str());
  return names;
}

TEST(Ties, TableOfAModuleThatIsNeverCalled) {
  ScratchFolder folder;
  using Names = std::vector<std::string>;
  Imported shared = importFile(
      folder.write("shared.onnx", uncalledTable("model.shared").bytes()));
  EXPECT_EQ(aliasesOf(shared, "model.shared.weight"),
            (Names{"model.enc.emb.weight", "model.dec.emb.weight"}));
  // Not beside the two: it may be any table that the exporter folded away.
  Imported deeper = importFile(
      folder.write("deeper.onnx", uncalledTable("model.enc.pos").bytes()));
  EXPECT_EQ(aliasesOf(deeper, "model.enc.emb.weight"),
            (Names{"model.dec.emb.weight"}));
}

/// The signature says that there is `gone.weight`, not what it is: the user
/// does.
TEST(Ties, NameThatTheFileLost) {
  ScratchFolder folder;
  using Names = std::vector<std::string>;
  std::string path =
      folder.write("m.onnx", uncalledTable("model.shared").bytes());
  ImportOptions options;
  EXPECT_EQ((*OnnxModel::open(path))->foldedParameters(options),
            (Names{"gone.weight"}));
  options.ties = {{"gone.weight", "model.enc.emb.weight"}};
  EXPECT_EQ((*OnnxModel::open(path))->foldedParameters(options), Names());
  Imported tied = importFile(path, options);
  EXPECT_EQ(
      aliasesOf(tied, "model.shared.weight"),
      (Names{"model.enc.emb.weight", "model.dec.emb.weight", "gone.weight"}));
  options.ties = {{"gone.weight", "nowhere.weight"}};
  EXPECT_NE(importFile(path, options).message().find("gone.weight"),
            std::string::npos);
}

/// A table read by Gather, and its transpose under an exporter's name.
ModelBuilder storedTwice() {
  ModelBuilder builder(17);
  builder.input("ids", {"batch"}, ::onnx::TensorProto::INT64);
  builder.floats("emb.weight", {4, 2}, ramp(8));
  builder.floats("onnx::MatMul_9", {2, 4}, {0, 2, 4, 6, 1, 3, 5, 7});
  builder.node("Gather", {"emb.weight", "ids"}, {"e"}, "/emb/Gather");
  builder.node("MatMul", {"e", "onnx::MatMul_9"}, {"y"}, "/head/MatMul");
  builder.output("y");
  return builder;
}

TEST(Ties, TransposedCopyIsTied) {
  ScratchFolder folder;
  std::string path = folder.write("m.onnx", storedTwice().bytes());
  Imported tied = importFile(path);
  ASSERT_TRUE(tied.ok()) << tied.message();
  ASSERT_EQ(tied.weights().size(), 1u) << tied.text();
  ASSERT_EQ(tied.notices.size(), 1u);
  EXPECT_NE(tied.notices[0].find("--untie head.weight"), std::string::npos);
  ImportOptions options;
  options.unties = {"head.weight"};
  Imported apart = importFile(path, options);
  ASSERT_TRUE(apart.ok()) << apart.message();
  EXPECT_EQ(apart.weights().size(), 2u);
  Tensor ids =
      *Tensor::copyOf({DType::I64, {2}}, std::vector<int64_t>{1, 3}.data());
  EXPECT_TRUE(pipe::testing::sameBits((*tied.run({{"ids", ids}}))[0],
                                      (*apart.run({{"ids", ids}}))[0]));
}

TEST(Ties, FoldedTransposeOfATableIsTheTable) {
  ScratchFolder folder;
  ModelBuilder builder;
  builder.input("ids", {"batch"}, ::onnx::TensorProto::INT64);
  builder.signature("p_emb_weight: PARAMETER target='emb.weight'\n");
  builder.floats("emb.weight", {4, 2}, ramp(8));
  builder.floats("t", {2, 4}, {0, 2, 4, 6, 1, 3, 5, 7});
  fxNode(builder.node("Gather", {"emb.weight", "ids"}, {"e"}), "emb",
         "aten.embedding.default](args = (%p_emb_weight, %ids)");
  fxNode(builder.node("MatMul", {"e", "t"}, {"y"}), "",
         "aten.matmul.default](args = (%e, %t)");
  builder.output("y");
  Imported result = importFile(folder.write("m.onnx", builder.bytes()));
  ASSERT_TRUE(result.ok()) << result.message();
  EXPECT_EQ(result.weights().size(), 1u) << result.text();
  EXPECT_EQ(result.notices.size(), 1u);
  Tensor ids =
      *Tensor::copyOf({DType::I64, {2}}, std::vector<int64_t>{1, 3}.data());
  EXPECT_EQ(floatsOf((*result.run({{"ids", ids}}))[0]),
            (std::vector<float>{3, 13, 23, 33, 7, 33, 59, 85}));
}

TEST(Ties, DifferentDataIsNot) {
  ScratchFolder folder;
  ModelBuilder builder = storedTwice();
  ModelBuilder::fill(*builder.graph()->mutable_initializer(1), "onnx::MatMul_9",
                     ::onnx::TensorProto::FLOAT, {},
                     std::vector<float>{0, 2, 4, 6, 1, 3, 5, 8});
  std::string path = folder.write("m.onnx", builder.bytes());
  EXPECT_EQ(importFile(path).weights().size(), 2u);
  ImportOptions options;
  options.ties = {{"emb.weight", "head.weight"}};
  Imported forced = importFile(path, options);
  ASSERT_TRUE(forced.ok()) << forced.message();
  EXPECT_EQ(forced.weights().size(), 1u);
  EXPECT_EQ(forced.notices,
            std::vector<std::string>{
                "warning: --tie emb.weight=head.weight: their values in the "
                "file differ; those of emb.weight are used for both"});
}

TEST(Ties, UnknownNamesAreErrors) {
  ScratchFolder folder;
  std::string path = folder.write("m.onnx", storedTwice().bytes());
  ImportOptions untie;
  untie.unties = {"haed.weight"};
  Imported result = importFile(path, untie);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.message().find("did you mean head.weight"),
            std::string::npos)
      << result.message();
  ImportOptions tie;
  tie.ties = {{"emb.weight", "nothing"}};
  EXPECT_FALSE(importFile(path, tie).ok());
}

TEST(Weights, IdentityNodesOfMergedInitializersAreNames) {
  ScratchFolder folder;
  ModelBuilder builder(17);
  builder.input("x", {"batch", "4"});
  builder.floats("a.weight", {4}, {1, 1, 1, 1});
  builder.node("Identity", {"a.weight"}, {"b.weight"}, "Identity_0");
  builder.node("Mul", {"x", "a.weight"}, {"h"}, "/a/Mul");
  builder.node("Mul", {"h", "b.weight"}, {"y"}, "/b/Mul");
  builder.output("y");
  Imported result = importFile(folder.write("m.onnx", builder.bytes()));
  ASSERT_TRUE(result.ok()) << result.message();
  EXPECT_EQ(result.weights().size(), 2u) << result.text();
}

} // namespace
} // namespace pipec::onnx
