// Which tensors are suspected to be made of parameters at export, and which
// parameters to be buffers.
#include "frontends/onnx/names/Names.h"
#include "test/unit/frontends/ImportHelper.h"

#include <gtest/gtest.h>

namespace pipec::onnx {
namespace {

using namespace testing;
using Names = std::vector<std::string>;

/// A model whose node reads `tensor` in place of what `call` names.
class ComputedBuilder : public ModelBuilder {
public:
  ComputedBuilder() {
    input("x", {"batch", "2"});
    signature("p_t: PARAMETER target='t'\nb_pe: BUFFER target='enc.pe' "
              "persistent=False\nc_k: CONSTANT_TENSOR target='k'\nx: "
              "USER_INPUT\n\n# outputs\nout: USER_OUTPUT\n");
    floats("t", {2}, {1, 2});
  }
  void call(const std::string &op, const Names &inputs,
            const std::string &result, const std::string &module,
            const std::string &arguments) {
    ::onnx::NodeProto *made = node(op, inputs, {result});
    metadata(made, "pkg.torch.onnx.name_scopes",
             module.empty() ? "['', 'c']" : "['', '" + module + "', 'c']");
    metadata(made, "pkg.torch.onnx.fx_node",
             "%" + result +
                 " : [num_users=1] = call_function[target=torch.ops.aten.op](" +
                 "args = (" + arguments + "), kwargs = {})");
  }
  /// The root reads its parameter, so it is there.
  void readParameter(const std::string &value = "x") {
    call("Add", {value, "t"}, "y", "", "%" + value + ", %p_t");
    output("y");
  }
  std::vector<ComputedTensor> computed() {
    ScratchFolder folder;
    auto model = OnnxModel::open(folder.write("m.onnx", bytes()));
    EXPECT_TRUE(model.ok()) << model.status().message();
    return model.ok() ? (*model)->trainingLosses().computed
                      : std::vector<ComputedTensor>();
  }
};

TEST(ComputedAtExport, AValueThatNothingMakes) {
  ComputedBuilder b;
  b.floats("exp", {2}, {2, 7});
  b.call("Mul", {"x", "exp"}, "m", "", "%x, %exp");
  b.readParameter("m");
  auto found = b.computed();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "exp");
  EXPECT_EQ(found[0].where, "node 'node_m' (Mul)");
  EXPECT_EQ(found[0].parameters, Names()); // which, the file does not say
  EXPECT_FALSE(found[0].certain);
}

TEST(ComputedAtExport, UnderAnotherName) {
  ComputedBuilder b;
  b.floats("weight_0", {2}, {2, 7});
  b.call("Mul", {"x", "weight_0"}, "m", "", "%x, %sigmoid");
  b.readParameter("m");
  ASSERT_EQ(b.computed().size(), 1u);
}

/// logaddexp(x, t) is several nodes, and exp(t) is no other form of t.
TEST(ComputedAtExport, AParameterThatItsCallDoesNotRead) {
  ComputedBuilder b;
  b.floats("val_6", {2}, {2, 7});
  ::onnx::NodeProto *exp = b.node("Exp", {"x"}, {"val_5"});
  b.call("Add", {"val_5", "val_6"}, "m", "", "%x, %p_t");
  *exp->mutable_metadata_props() =
      b.graph()->node(b.graph()->node_size() - 1).metadata_props();
  b.readParameter("m");
  auto found = b.computed();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "val_6");
  EXPECT_EQ(found[0].parameters, Names{"t"});
  EXPECT_FALSE(found[0].certain);
}

TEST(ComputedAtExport, ConstantsAreNot) {
  const struct {
    const char *tensor, *arguments, *module;
  } cases[] = {
      {"full_2", "%x, %full_2", ""}, // of numbers
      {"scalar_tensor_default", "%x, %scalar_tensor_default", ""},
      {"val_3", "%x, 2.0", ""},       // a literal
      {"k", "%x, %c_k", ""},          // a lifted constant
      {"val_4", "%slice_1, 2.0", ""}, // slice_1 did nothing
  };
  for (const auto &test : cases) {
    ComputedBuilder b;
    b.floats(test.tensor, {2}, {2, 7});
    b.call("Mul", {"x", test.tensor}, "m", test.module, test.arguments);
    b.readParameter("m");
    EXPECT_TRUE(b.computed().empty()) << test.tensor;
  }
}

/// A scale of one element beside a parameter of two, but not beside a scalar.
TEST(ComputedAtExport, OneNumberIsNot) {
  for (const char *arguments : {"%x, %view_2", "%x, %p_t"}) {
    ComputedBuilder b;
    b.floats("val_58", {1}, {0.7071f});
    b.node("Neg", {"x"}, {"n"});
    b.call("Mul", {"n", "val_58"}, "m", "", arguments);
    *b.graph()->mutable_node(0)->mutable_metadata_props() =
        b.graph()->node(1).metadata_props();
    b.readParameter("m");
    EXPECT_TRUE(b.computed().empty()) << arguments;
  }
  ComputedBuilder b;
  b.graph()->mutable_initializer()->Clear();
  b.floats("t", {1}, {1});
  b.floats("weight_0", {1}, {2});
  b.call("Mul", {"x", "weight_0"}, "m", "", "%x, %exp");
  b.readParameter("m");
  EXPECT_EQ(b.computed().size(), 1u);
}

/// A mask, or a table of angles in a module without parameters, is one too: a
/// file without the exporter's record does not tell them apart.
TEST(ComputedAtExport, WhateverStandsForAValueIsSaid) {
  ComputedBuilder b;
  b.floats("masked_fill", {2}, {0, -INFINITY});
  b.floats("cos", {2}, {2, 7});
  b.call("Add", {"x", "masked_fill"}, "m", "", "%x, %masked_fill");
  b.call("Mul", {"m", "cos"}, "n", "attn", "%m, %cos");
  b.readParameter("n");
  EXPECT_EQ(b.computed().size(), 2u);
}

Names possibleBuffers(bool fromPyTorch, const Names &names) {
  ModelBuilder b;
  if (fromPyTorch)
    b.proto.set_producer_name("pytorch");
  b.input("x", {"2"});
  std::string last = "x";
  for (const std::string &name : names) {
    b.floats(name, {2}, {1, 2});
    b.node("Mul", {last, name}, {"after_" + name});
    last = "after_" + name;
  }
  b.output(last);
  ScratchFolder folder;
  auto model = OnnxModel::open(folder.write("m.onnx", b.bytes()));
  EXPECT_TRUE(model.ok()) << model.status().message();
  return model.ok() ? (*model)->trainingLosses().possibleBuffers : Names();
}

TEST(PossibleBuffers, NamesThatParametersHaveNot) {
  Names names{"a.weight",
              "a.bias",
              "pe",
              "enc.scale",
              "l.0",
              "r.weight_ih_l0_reverse",
              "experts.gate_up_proj",
              "p.parametrizations.weight.original0",
              "onnx::Mul_7",
              "bn.running_mean"};
  EXPECT_EQ(possibleBuffers(true, names), (Names{"pe", "enc.scale"}));
  Names torchNames{"in_proj_weight", "q_proj_weight", "bias_k",
                   "weight_hr_l1",   "bias_hh",       "c.weight_g",
                   "c.weight_v"};
  EXPECT_EQ(possibleBuffers(true, torchNames), Names());
  Names buffers{"e_score_correction_bias",
                "pos_bias",
                "ema_weight",
                "bias_upd",
                "s.weight_v",
                "original_pos"};
  EXPECT_EQ(possibleBuffers(true, buffers), buffers);
  EXPECT_EQ(possibleBuffers(false, names), Names());
}

TEST(GuessedNames, OfNumberedTensors) {
  for (bool fromPyTorch : {true, false}) {
    ModelBuilder b(17);
    if (fromPyTorch)
      b.proto.set_producer_name("pytorch");
    b.input("x", {"2", "2"});
    b.floats("onnx::MatMul_7", {2, 2}, {1, 2, 3, 4});
    b.floats("b.weight", {2, 2}, {1, 2, 3, 4});
    b.node("MatMul", {"x", "onnx::MatMul_7"}, {"h"}, "/a/MatMul");
    b.node("Gemm", {"h", "b.weight"}, {"y"}, "/b/Gemm");
    b.output("y");
    ScratchFolder folder;
    auto model = OnnxModel::open(folder.write("m.onnx", b.bytes()));
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ((*model)->trainingLosses().guessedNames,
              fromPyTorch ? Names{"a.weight"} : Names());
  }
}

/// Zeros that the exporter merged with a parameter: what the call reads is a
/// product, so the parameter is not trained through it.
TEST(ComputedAtExport, TensorEqualToAParameterIsAConstant) {
  for (bool distinct : {false, true}) {
    ScratchFolder folder;
    ModelBuilder builder;
    builder.input("x", {"2", "3"});
    builder.signature("p_w: PARAMETER target='w'\n");
    builder.floats("w", {3, 3},
                   distinct ? std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8}
                            : std::vector<float>(9));
    for (auto [from, to, call] :
         {std::tuple("x", "h", "%x, %p_w"), {"h", "y", "%h, %matmul_7"}})
      ModelBuilder::metadata(
          builder.node("MatMul", {from, "w"}, {to}), "pkg.torch.onnx.fx_node",
          std::string("%call : [num_users=1] = call_function[target=torch.ops."
                      "aten.matmul.default](args = (") +
              call + "), kwargs = {})");
    builder.output("y");
    auto model = openModel(folder.write("m.onnx", builder.bytes()));
    ASSERT_TRUE(model.ok());
    auto table = makeWeightTable(**model, {});
    ASSERT_TRUE(table.ok());
    auto kind = [&](int node) {
      return table->decls[table->uses.at({node, 1}).decl].kind;
    };
    EXPECT_EQ(kind(0), WeightKind::Parameter);
    EXPECT_EQ(kind(1), distinct ? WeightKind::Parameter : WeightKind::Constant);
    EXPECT_EQ(findComputed(**model, *table).size(), distinct ? 0u : 1u);
  }
}

/// What the exporter made of a cross entropy, of which `arguments` were given;
/// `more`: another node of the same call.
Names saidOfCrossEntropy(const std::string &arguments,
                         const std::string &keywords, bool more = false) {
  ModelBuilder b;
  b.input("z", {"2", "3"});
  b.input("l", {"2"}, ::onnx::TensorProto::INT64);
  auto of = [&](::onnx::NodeProto *made) {
    ModelBuilder::metadata(
        made, "pkg.torch.onnx.fx_node",
        "%ce : [num_users=1] = call_function[target=torch.ops.aten."
        "cross_entropy_loss.default](args = (" +
            arguments + "), kwargs = {" + keywords + "})");
  };
  of(b.node("SoftmaxCrossEntropyLoss", {"z", "l"}, {more ? "m" : "ce"}));
  if (more)
    of(b.node("Neg", {"m"}, {"ce"}));
  b.output("ce", {});
  ScratchFolder folder;
  Imported result = importFile(folder.write("m.onnx", b.bytes()));
  EXPECT_TRUE(result.ok()) << result.message();
  return result.notices;
}

TEST(LeftOut, LabelSmoothingIsTold) {
  for (const Names &said :
       {saidOfCrossEntropy("%z, %l, None, 1, -100, 0.1", ""),
        saidOfCrossEntropy("%z, %l", "label_smoothing: 0.1")}) {
    ASSERT_EQ(said.size(), 1u);
    EXPECT_NE(said[0].find("(SoftmaxCrossEntropyLoss): the exporter left "
                           "label_smoothing=0.1 out of the file"),
              std::string::npos)
        << said[0];
  }
  // None, none given, and one that other nodes of the call may hold.
  EXPECT_EQ(saidOfCrossEntropy("%z, %l, None, 1, -100, 0.0", ""), Names());
  EXPECT_EQ(saidOfCrossEntropy("%z, %l", ""), Names());
  EXPECT_EQ(saidOfCrossEntropy("%z, %l", "label_smoothing: 0.1", true),
            Names());
}

} // namespace
} // namespace pipec::onnx
