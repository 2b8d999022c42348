// Which parameter a tensor under the exporter's name is, in files of the
// TorchScript-based exporter.
#include "frontends/onnx/names/Names.h"

#include "test/unit/frontends/ImportHelper.h"

#include <gtest/gtest.h>

namespace pipec::onnx {
namespace {

using namespace testing;
using Names = std::vector<std::string>;
using Sizes = std::vector<int64_t>;

/// Chains of nodes named as the exporter does.
class LegacyBuilder : public ModelBuilder {
public:
  LegacyBuilder() : ModelBuilder(17) { input("x", {"2", "4"}); }

  void tensor(const std::string &name, const Sizes &shape) {
    int64_t count = 1;
    for (int64_t size : shape)
      count *= size;
    std::vector<float> values(count);
    for (float &value : values)
      value = next += 0.5f; // no two tensors are alike
    floats(name, shape, values);
  }
  /// A node behind the last one.
  void step(const std::string &path, const std::string &op,
            const Names &weights = {}) {
    Names inputs{last};
    inputs.insert(inputs.end(), weights.begin(), weights.end());
    last = "v" + std::to_string(graph()->node_size());
    node(op, inputs, {last}, path + "/" + op);
  }
  void multiply(const std::string &path, const std::string &matrix,
                const Sizes &shape) {
    if (!shape.empty())
      tensor(matrix, shape);
    step(path, "MatMul", {matrix}); // one that is there already: no shape
  }

  /// "name: shape" of what is no constant, in the file's order.
  Names parameters(const ImportOptions &options = {}) {
    read(options);
    Names lines;
    for (const WeightDecl &decl : table.decls)
      if (decl.kind != WeightKind::Constant)
        lines.push_back(decl.name + decl.type.str());
    return lines;
  }
  WeightTable table;

private:
  void read(const ImportOptions &options) {
    output(last);
    ScratchFolder folder;
    auto model = openModel(folder.write("m.onnx", bytes()));
    ASSERT_TRUE(model.ok()) << model.status().message();
    auto made = makeWeightTable(**model, options);
    ASSERT_TRUE(made.ok()) << made.status().message();
    table = std::move(*made);
  }
  std::string last = "x";
  float next = 0;
};

TEST(LegacyNames, AParameterIsOneWhoeverReadsIt) {
  for (bool fromPyTorch : {true, false}) {
    LegacyBuilder b;
    b.proto.set_producer_name(fromPyTorch ? "pytorch" : "other");
    for (const char *name : {"p", "low", "high", "gem.slope"})
      b.tensor(name, {1});
    b.step("", "Pow", {"p"});
    b.step("/gem", "Clip", {"low", "high"});
    b.step("/gem", "PRelu", {"gem.slope"});
    EXPECT_EQ(b.parameters(), fromPyTorch
                                  ? (Names{"pf32[1]", "lowf32[1]", "highf32[1]",
                                           "gem.slopef32[1]"})
                                  : Names{"gem.slopef32[1]"});
  }
}

/// The scales are part of what is compiled, whoever wrote the file.
TEST(LegacyNames, WhatIsCompiledIsNoParameter) {
  LegacyBuilder b;
  b.proto.set_producer_name("pytorch");
  b.tensor("factors", {2});
  b.node("Resize", {"x", "", "factors"}, {"unread"});
  b.step("/a", "Relu");
  EXPECT_EQ(b.parameters(), Names());
}

TEST(LegacyNames, ProjectionsOfAttentionAreOneMatrix) {
  LegacyBuilder b;
  b.tensor("attn.in_proj_bias", {12});
  b.tensor("attn.out_proj.weight", {4, 4});
  b.multiply("/attn", "onnx::MatMul_1", {4, 12});
  b.step("/attn", "Add", {"attn.in_proj_bias"});
  b.step("/attn", "Gemm", {"attn.out_proj.weight"});
  EXPECT_EQ(b.parameters(),
            (Names{"attn.in_proj_biasf32[12]", "attn.out_proj.weightf32[4x4]",
                   "attn.in_proj_weightf32[12x4]"}));
  EXPECT_EQ(b.table.folded, Names());
}

TEST(LegacyNames, SeparateProjectionsOfAttention) {
  LegacyBuilder b;
  b.tensor("attn.out_proj.weight", {4, 4});
  b.tensor("onnx::Add_9", {4});
  b.multiply("/attn", "onnx::MatMul_1", {4, 4});
  b.step("/attn", "Add", {"onnx::Add_9"});
  b.multiply("/attn", "onnx::MatMul_2", {3, 4});
  b.multiply("/attn", "onnx::MatMul_3", {2, 4});
  b.step("/attn", "Gemm", {"attn.out_proj.weight"});
  EXPECT_EQ(
      b.parameters(),
      (Names{"attn.out_proj.weightf32[4x4]", "attn.q_proj_weightf32[4x4]",
             "attn.k_proj_weightf32[4x3]", "attn.v_proj_weightf32[4x2]"}));
  EXPECT_EQ(b.table.folded, (Names{"attn.in_proj_bias"}));
}

TEST(LegacyNames, SlicesOfAProjectionAreNotTheParameter) {
  LegacyBuilder b;
  b.tensor("attn.out_proj.weight", {4, 4});
  b.multiply("/attn", "onnx::MatMul_1", {4, 4});
  b.multiply("/attn", "onnx::MatMul_2", {4, 8});
  b.step("/attn", "Gemm", {"attn.out_proj.weight"});
  EXPECT_EQ(b.parameters(), (Names{"attn.out_proj.weightf32[4x4]"}));
  EXPECT_EQ(b.table.folded, (Names{"attn.in_proj_weight"}));
}

/// Nothing says that it is nn.MultiheadAttention(bias=False).
TEST(LegacyNames, AttentionWithoutNamesIsListed) {
  LegacyBuilder b;
  b.multiply("/attn", "onnx::MatMul_1", {4, 12});
  b.step("/attn", "Squeeze");
  b.step("/attn", "Softmax");
  b.multiply("/attn", "onnx::MatMul_2", {4, 4});
  EXPECT_EQ(b.parameters(), Names());
  EXPECT_EQ(b.table.folded, (Names{"onnx::MatMul_1", "onnx::MatMul_2"}));
}

TEST(LegacyNames, LinearIsALeafThatDoesNothingElse) {
  LegacyBuilder b;
  b.tensor("fc.bias", {3});
  b.multiply("/fc", "onnx::MatMul_1", {4, 3});
  b.step("/fc", "Add", {"fc.bias"});
  b.multiply("/head", "onnx::MatMul_2", {3, 5});
  EXPECT_EQ(b.parameters(), (Names{"fc.biasf32[3]", "fc.weightf32[3x4]",
                                   "head.weightf32[5x3]"}));
}

TEST(LegacyNames, OtherMatricesAreConstants) {
  LegacyBuilder b;
  b.multiply("/mix", "onnx::MatMul_1", {4, 4}); // two of one module
  b.multiply("/mix", "onnx::MatMul_2", {4, 4});
  b.multiply("", "onnx::MatMul_3", {4, 4}); // the root's `weight`, or `w`?
  b.tensor("block.q_bias", {4});
  b.multiply("/block", "onnx::MatMul_4", {4, 4}); // block.qkv.weight, say
  b.step("/block", "Add", {"block.q_bias"});
  b.multiply("/block/proj", "onnx::MatMul_5", {4, 4});
  EXPECT_EQ(b.parameters(),
            (Names{"block.q_biasf32[4]", "block.proj.weightf32[4x4]"}));
  EXPECT_EQ(b.table.folded, (Names{"onnx::MatMul_1", "onnx::MatMul_2",
                                   "onnx::MatMul_3", "onnx::MatMul_4"}));
  EXPECT_GE(b.table.find("onnx::MatMul_2"), 0);
}

TEST(LegacyNames, SecondCallReadsTheSameParameter) {
  LegacyBuilder b;
  b.multiply("/l", "onnx::MatMul_1", {4, 4});
  b.multiply("/l_1", "onnx::MatMul_1", {});
  b.node("Identity", {"onnx::MatMul_1"}, {"onnx::MatMul_2"}, "Identity_7");
  b.multiply("/l_2", "onnx::MatMul_2", {});
  EXPECT_EQ(b.parameters(), (Names{"l.weightf32[4x4]"}));
  EXPECT_EQ(b.table.folded, Names());
}

TEST(LegacyNames, ProductWithATableReadsTheTable) {
  for (bool apart : {false, true}) {
    LegacyBuilder b;
    b.floats("emb.weight", {3, 2}, {0, 1, 2, 3, 4, 5});
    b.ints("ids", {2}, {0, 2});
    b.floats("onnx::MatMul_9", {2, 3}, {0, 2, 4, 1, 3, 5});
    b.node("Gather", {"emb.weight", "ids"}, {"e"}, "/emb/Gather");
    b.node("MatMul", {"e", "onnx::MatMul_9"}, {"m"}, "/MatMul");
    b.node("Relu", {"m"}, {"r"}, "/Relu");
    ImportOptions options;
    if (apart)
      options.unties = {"onnx::MatMul_9"};
    EXPECT_EQ(b.parameters(options), (Names{"emb.weightf32[3x2]"}));
    EXPECT_EQ(b.table.copies.size(), apart ? 0u : 1u);
    EXPECT_EQ(b.table.folded, apart ? Names{"onnx::MatMul_9"} : Names());
    EXPECT_EQ(b.table.find("onnx::MatMul_9") >= 0, apart);
  }
}

/// x @ w + x @ w.t(), and a convolution's weight that is moved.
TEST(LegacyNames, MovedCopiesAreTheParameter) {
  LegacyBuilder b;
  b.floats("ps.0", {2, 3}, {0, 1, 2, 3, 4, 5});
  b.floats("onnx::MatMul_9", {3, 2}, {0, 3, 1, 4, 2, 5});
  b.floats("onnx::MatMul_10", {3, 2}, {0, 3, 1, 4, 2, 6});
  b.node("MatMul", {"x", "ps.0"}, {"a"}, "/MatMul");
  b.node("MatMul", {"x", "onnx::MatMul_9"}, {"b"}, "/MatMul_1");
  b.node("MatMul", {"x", "onnx::MatMul_10"}, {"c"}, "/MatMul_2");
  EXPECT_EQ(b.parameters(), (Names{"ps.0f32[2x3]"}));
  EXPECT_EQ(b.table.copies.size(), 1u);
  EXPECT_EQ(b.table.folded, (Names{"onnx::MatMul_10"}));
  EXPECT_EQ(b.table.uses.at({1, 1}).permutation, (Permutation{1, 0}));
}

/// Zeros are equal to any zeros.
TEST(LegacyNames, EqualZerosAreNoCopies) {
  LegacyBuilder b;
  b.floats("w", {2, 2}, {0, 0, 0, 0});
  b.floats("onnx::MatMul_9", {2, 2}, {0, 0, 0, 0});
  b.node("MatMul", {"x", "w"}, {"a"}, "/MatMul");
  b.node("MatMul", {"a", "onnx::MatMul_9"}, {"b"}, "/MatMul_1");
  b.node("Relu", {"b"}, {"r"}, "/Relu");
  EXPECT_EQ(b.parameters(), (Names{"wf32[2x2]"}));
  EXPECT_EQ(b.table.folded, (Names{"onnx::MatMul_9"}));
}

/// The module has its weight under its name, too: which of the two the matrix
/// is, its bytes say.
TEST(LegacyNames, MatrixBesideTheNameOfItsModule) {
  for (float last : {5.f, 6.f}) {
    LegacyBuilder b;
    b.floats("fc.weight", {2, 3}, {0, 1, 2, 3, 4, 5});
    b.tensor("fc.bias", {2});
    b.floats("onnx::MatMul_9", {3, 2}, {0, 3, 1, 4, 2, last});
    b.node("MatMul", {"x", "onnx::MatMul_9"}, {"m"}, "/fc/MatMul");
    b.node("Add", {"m", "fc.bias"}, {"a"}, "/fc/Add");
    b.node("MatMul", {"a", "fc.weight"}, {"r"}, "/MatMul");
    EXPECT_EQ(b.parameters(), (Names{"fc.weightf32[2x3]", "fc.biasf32[2]"}));
    EXPECT_EQ(b.table.uses.at({0, 1}).permutation,
              last == 5.f ? (Permutation{1, 0}) : Permutation());
    EXPECT_EQ(b.table.refuted.size(), last == 5.f ? 0u : 1u);
  }
}

/// A module that holds another parameter's matrix, or a copy of it: its name is
/// a guess, and that the two are one is said.
TEST(LegacyNames, MatrixEqualToAnotherParameter) {
  LegacyBuilder b;
  b.floats("w", {2, 3}, {0, 1, 2, 3, 4, 5});
  b.tensor("fc.bias", {2});
  b.floats("onnx::MatMul_9", {3, 2}, {0, 3, 1, 4, 2, 5});
  b.node("MatMul", {"x", "w"}, {"m"}, "/MatMul");
  b.node("MatMul", {"m", "onnx::MatMul_9"}, {"n"}, "/fc/MatMul");
  b.node("Add", {"n", "fc.bias"}, {"a"}, "/fc/Add");
  EXPECT_EQ(b.parameters(),
            (Names{"wf32[2x3]", "fc.biasf32[2]", "fc.weightf32[2x3]"}));
  EXPECT_TRUE(b.table.copies.empty());
  EXPECT_EQ(b.table.trainingWarnings,
            Names{"the same data is under several names (w, fc.weight), and "
                  "the file does not say whether they are one parameter: each "
                  "is trained by itself; --tie w=fc.weight makes them one"});
}

/// Two nn.Linear without a bias that share a weight, or copies of one.
TEST(LegacyNames, MatricesWithTheSameData) {
  for (bool tied : {false, true}) {
    LegacyBuilder b;
    b.multiply("/a", "onnx::MatMul_1", {4, 4});
    b.node("Identity", {"onnx::MatMul_1"}, {"onnx::MatMul_2"}, "Identity_7");
    b.multiply("/b", "onnx::MatMul_2", {});
    ImportOptions options;
    if (tied)
      options.ties = {{"a.weight", "b.weight"}};
    EXPECT_EQ(b.parameters(options).size(), tied ? 1u : 2u);
    EXPECT_EQ(b.table.trainingWarnings.size(), tied ? 0u : 1u);
  }
}

TEST(LegacyNames, NamedTensorsAreParametersWhoeverReadsThem) {
  LegacyBuilder b;
  b.proto.set_producer_name("pytorch");
  b.tensor("0.weight", {4, 4}); // of a root Sequential
  b.tensor("0.bias", {4});
  b.tensor("3d.gain", {4});
  b.tensor("gem.p", {4});
  b.tensor("17", {4}); // of no module
  b.step("/0", "Gemm", {"0.weight", "0.bias"});
  b.step("/3d", "Mul", {"3d.gain"});
  b.step("/gem", "Pow", {"gem.p"});
  b.step("", "Add", {"17"});
  EXPECT_EQ(b.parameters(), (Names{"0.weightf32[4x4]", "0.biasf32[4]",
                                   "3d.gainf32[4]", "gem.pf32[4]"}));
}

TEST(LegacyNames, SlopeOfPRelu) {
  LegacyBuilder b;
  b.tensor("onnx::PRelu_1", {4, 1, 1});
  b.tensor("onnx::PRelu_2", {4, 1, 1});
  b.step("/act", "PRelu", {"onnx::PRelu_1"});
  b.step("/own", "PRelu", {"onnx::PRelu_2"}); // a function's argument
  b.step("/own", "Neg");
  EXPECT_EQ(b.parameters(), (Names{"act.weightf32[4]"}));
}

TEST(LegacyNames, ConvolutionWithItsNormIsFolded) {
  LegacyBuilder b;
  b.tensor("onnx::Conv_1", {4, 4, 1, 1});
  b.tensor("onnx::Conv_2", {4});
  b.step("/seq/seq.0", "Conv", {"onnx::Conv_1", "onnx::Conv_2"});
  EXPECT_EQ(b.parameters(), Names());
  EXPECT_EQ(b.table.folded, (Names{"seq.0.weight", "seq.0.bias"}));
}

// As in Mamba: the mixer calls the function with what its child holds.
TEST(LegacyNames, ConvolutionByAFunctionIsNamedByItsBias) {
  LegacyBuilder b;
  b.tensor("onnx::Conv_1", {4, 4, 1, 1});
  b.tensor("mixer.conv1d.bias", {4});
  b.tensor("mixer.proj.bias", {4});
  b.step("/mixer", "Conv", {"onnx::Conv_1", "mixer.conv1d.bias"});
  b.step("/mixer/proj", "Add", {"mixer.proj.bias"});
  EXPECT_EQ(b.parameters(),
            (Names{"mixer.conv1d.biasf32[4]", "mixer.proj.biasf32[4]"}));
  EXPECT_EQ(b.table.folded, (Names{"mixer.conv1d.weight"}));
}

TEST(LegacyNames, ConvolutionByAFunctionWithoutBiasKeepsItsName) {
  LegacyBuilder b;
  b.tensor("onnx::Conv_1", {4, 4, 1, 1});
  b.tensor("mixer.proj.bias", {4});
  b.step("/mixer", "Conv", {"onnx::Conv_1"});
  b.step("/mixer/proj", "Add", {"mixer.proj.bias"});
  EXPECT_EQ(b.parameters(), (Names{"mixer.proj.biasf32[4]"}));
  EXPECT_EQ(b.table.folded, (Names{"onnx::Conv_1"}));
}

TEST(LegacyNames, WhatCameOfOtherParametersIsListed) {
  LegacyBuilder b;
  b.tensor("onnx::Mul_1", {1, 2, 1});
  b.tensor("onnx::Mul_2", {});
  b.step("/mixer", "Mul", {"onnx::Mul_1"});
  b.step("/mixer", "Mul", {"onnx::Mul_2"});
  EXPECT_EQ(b.parameters(), Names());
  EXPECT_EQ(b.table.folded, (Names{"onnx::Mul_1"}));
}

TEST(LegacyNames, TransposedWeightOfAnotherModuleHasTheReadersNameToo) {
  LegacyBuilder b;
  b.tensor("wte.weight", {5, 4});
  b.step("/lm_head", "Transpose", {});
  b.graph()->mutable_node(0)->set_input(0, "wte.weight");
  b.node("MatMul", {"x", "v0"}, {"m"}, "/lm_head/MatMul");
  EXPECT_EQ(b.parameters(), (Names{"wte.weightf32[5x4]"}));
  EXPECT_EQ(b.table.decls[0].aliases, (Names{"lm_head.weight"}));
}

/// A prediction head's decoder, unfolded, and a Linear written as Gemm.
TEST(LegacyNames, BiasOfAnotherModuleHasTheReadersNameToo) {
  LegacyBuilder b;
  b.tensor("wte.weight", {4, 4});
  b.tensor("cls.bias", {4});
  b.step("/cls/decoder", "Transpose", {});
  b.graph()->mutable_node(0)->set_input(0, "wte.weight");
  b.node("MatMul", {"x", "v0"}, {"m"}, "/cls/decoder/MatMul");
  b.node("Add", {"cls.bias", "m"}, {"a"}, "/cls/decoder/Add");
  b.node("Gemm", {"a", "wte.weight", "cls.bias"}, {"g"}, "/fc/Gemm");
  b.node("Add", {"g", "cls.bias"}, {"z"}, "/other/Add");
  EXPECT_EQ(b.parameters(), (Names{"wte.weightf32[4x4]", "cls.biasf32[4]"}));
  EXPECT_EQ(b.table.decls[1].aliases, (Names{"cls.decoder.bias", "fc.bias"}));
}

/// Convolutions and norms, written as one node, read those of another.
TEST(LegacyNames, ConvolutionsAndNormsMayShare) {
  LegacyBuilder b;
  b.tensor("a.weight", {4, 4, 1});
  b.tensor("n.weight", {4});
  b.tensor("n.bias", {4});
  b.step("/a", "Conv", {"a.weight"});
  b.step("/b", "Conv", {"a.weight"});
  b.step("/c", "Conv", {"a.weight"});
  b.step("/c", "Relu"); // a function of some other module
  b.step("/n", "LayerNormalization", {"n.weight", "n.bias"});
  b.step("/m", "LayerNormalization", {"n.weight", "n.bias"});
  b.step("/scale", "Mul", {"n.weight"});
  b.parameters();
  EXPECT_EQ(b.table.decls[0].aliases, (Names{"b.weight"}));
  EXPECT_EQ(b.table.decls[1].aliases, (Names{"m.weight"}));
  EXPECT_EQ(b.table.decls[2].aliases, (Names{"m.bias"}));
}

} // namespace
} // namespace pipec::onnx
