// Names by a state_dict: by bytes, in every form that an exporter stores, and
// what they do not prove.
#include "frontends/onnx/names/Names.h"
#include "runtime/base/safetensors.h"
#include "test/unit/frontends/ImportHelper.h"

#include <gtest/gtest.h>

namespace pipec::onnx {
namespace {

using namespace testing;
using Names = std::vector<std::string>;

/// A file of the TorchScript-based exporter and a state_dict beside it.
class StateBuilder : public ModelBuilder {
public:
  StateBuilder() {
    proto.set_producer_name("pytorch");
    input("x", {"2", "3"});
  }
  void state(const std::string &name, const std::vector<int64_t> &shape,
             const std::vector<float> &values) {
    tensors[name] = floatTensor(shape, values);
  }
  /// "name[shape]permutation" of parameters and buffers, in file order.
  Names named() {
    ScratchFolder folder;
    auto model = openModel(folder.write("m.onnx", bytes()));
    EXPECT_TRUE(model.ok()) << model.status().message();
    const std::string file = folder.path("state.safetensors");
    EXPECT_TRUE(saveSafetensors(file, tensors, false).ok());
    options.names = file;
    auto made = model.ok() ? makeWeightTable(**model, options)
                           : StatusOr<WeightTable>(model.status());
    error = made.ok() ? "" : made.status().message();
    Names names;
    if (!made.ok())
      return names;
    table = std::move(*made);
    for (const WeightDecl &decl : table.decls)
      if (decl.kind != WeightKind::Constant)
        names.push_back(decl.name + decl.type.str() +
                        (decl.permutation.empty() ? "" : " moved"));
    return names;
  }

  TensorMap tensors;
  ImportOptions options;
  WeightTable table;
  std::string error;
};

const std::vector<float> kMatrix{1, 2, 3, 4, 5, 6}, kTurned{1, 4, 2, 5, 3, 6};

TEST(StateNames, NamelessMatrixIsTheTensorOfItsBytes) {
  StateBuilder b;
  b.floats("onnx::MatMul_5", {3, 2}, kTurned);
  b.node("MatMul", {"x", "onnx::MatMul_5"}, {"y"}, "/fc/MatMul");
  b.output("y");
  b.state("fc.kernel", {2, 3}, kMatrix); // by its module it is fc.weight
  b.state("gone", {2}, {1, 2});
  EXPECT_EQ(b.named(), (Names{"fc.kernelf32[2x3] moved"})) << b.error;
  EXPECT_EQ(b.table.folded, (Names{"gone"}));
  EXPECT_EQ(b.table.certain, (std::set<std::string>{"fc.kernel"}));
}

TEST(StateNames, GuessThatTheStateDictRefutesIsAConstant) {
  StateBuilder b;
  b.floats("onnx::MatMul_5", {3, 2}, kTurned);
  b.floats("c", {2}, {7, 8});
  b.node("MatMul", {"x", "onnx::MatMul_5"}, {"m"}, "/fc/MatMul");
  b.node("Add", {"m", "c"}, {"y"}, "/Add");
  b.output("y");
  b.state("fc.weight", {2, 3}, {2, 4, 6, 8, 10, 12}); // the file has half of it
  b.state("c", {2}, {7, 8});
  EXPECT_EQ(b.named(), (Names{"cf32[2]"})) << b.error;
  EXPECT_EQ(b.table.folded, (Names{"onnx::MatMul_5", "fc.weight"}));
}

TEST(StateNames, ReshapedAndMovedTensors) {
  StateBuilder b;
  b.floats("onnx::Mul_5", {3, 1, 1}, {1, 2, 4});
  b.floats("onnx::Mul_6", {2, 2, 3}, {1, 2, 3, 7, 8, 9, 4, 5, 6, 10, 11, 12});
  b.node("Mul", {"x", "onnx::Mul_5"}, {"a"}, "/Mul");
  b.node("Mul", {"a", "onnx::Mul_6"}, {"y"}, "/Mul_1");
  b.output("y");
  b.state("big", {2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  b.state("gain", {3}, {1, 2, 4});
  // Three values do not prove that a tensor without a name is the state's.
  EXPECT_EQ(b.named(), (Names{"bigf32[2x2x3] moved"})) << b.error;
  EXPECT_EQ(b.table.folded, (Names{"onnx::Mul_5", "gain"}));
}

TEST(StateNames, EqualTensorsKeepTheNamesThatFit) {
  StateBuilder b;
  b.floats("a.bias", {2}, {0, 0});
  b.floats("b.bias", {2}, {0, 0});
  b.floats("w", {3, 2}, kMatrix);
  b.node("MatMul", {"x", "w"}, {"m"}, "/MatMul");
  b.node("Add", {"m", "a.bias"}, {"n"}, "/Add");
  b.node("Add", {"n", "b.bias"}, {"y"}, "/Add_1");
  b.output("y");
  for (const char *name : {"a.bias", "b.bias", "c.bias"})
    b.state(name, {2}, {0, 0});
  b.state("w", {3, 2}, kMatrix);
  b.state("head.w", {3, 2}, kMatrix);
  EXPECT_EQ(b.named(), (Names{"a.biasf32[2]", "b.biasf32[2]", "wf32[3x2]"}))
      << b.error;
  EXPECT_EQ(b.table.decls[2].aliases, (Names{"head.w"}));
  EXPECT_EQ(b.table.folded, (Names{"c.bias"}));
}

/// weight_norm's product equals its direction until it is trained.
TEST(StateNames, ProductOfWeightNormIsNotItsDirection) {
  StateBuilder b;
  b.floats("onnx::Gemm_5", {2, 3}, kMatrix);
  b.floats("c", {2}, {7, 8});
  ModelBuilder::attribute(
      b.node("Gemm", {"x", "onnx::Gemm_5", "c"}, {"y"}, "/Gemm"), "transB", 1);
  b.output("y");
  b.state("weight_v", {2, 3}, kMatrix);
  b.state("weight_g", {2, 1}, {9, 9});
  b.state("c", {2}, {7, 8});
  EXPECT_EQ(b.named(), (Names{"cf32[2]"})) << b.error;
  EXPECT_EQ(b.table.folded, (Names{"onnx::Gemm_5", "weight_g", "weight_v"}));
}

TEST(StateNames, AnotherStateIsAnError) {
  StateBuilder b;
  b.floats("w", {3, 2}, kMatrix);
  b.floats("v", {2}, {7, 8});
  b.node("MatMul", {"x", "w"}, {"m"}, "/MatMul");
  b.node("Add", {"m", "v"}, {"y"}, "/Add");
  b.output("y");
  b.state("w", {3, 2}, {1, 2, 3, 4, 5, 7});
  b.named();
  EXPECT_NE(b.error.find("--names: no tensor of"), std::string::npos)
      << b.error;
  b.state("v", {2}, {7, 8});
  b.named();
  EXPECT_NE(b.error.find("has other values for w than"), std::string::npos)
      << b.error;
}

/// The exporter's record says which tensors come from parameters.
TEST(StateNames, GuessThatTheStateDoesNotHaveIsNoName) {
  StateBuilder b;
  b.floats("onnx::MatMul_5", {3, 2}, kTurned);
  b.floats("onnx::MatMul_6", {2, 2}, {1, 2, 3, 4});
  b.node("MatMul", {"x", "onnx::MatMul_5"}, {"h"}, "/fc/MatMul");
  b.node("MatMul", {"h", "onnx::MatMul_6"}, {"y"}, "/half/MatMul");
  b.output("y");
  b.state("fc.weight", {2, 3}, kMatrix);
  b.state("half.w", {2, 2}, {2, 6, 4, 8});
  EXPECT_EQ(b.named(), (Names{"fc.weightf32[2x3] moved"})) << b.error;
  EXPECT_EQ(b.table.folded, (Names{"onnx::MatMul_6", "half.w"}));
}

TEST(StateNames, EqualMatricesWithoutNamesAreSaid) {
  StateBuilder b;
  const std::vector<float> square{1, 2, 3, 4, 5, 6, 7, 8, 9},
      turned{1, 4, 7, 2, 5, 8, 3, 6, 9};
  b.floats("onnx::MatMul_5", {3, 3}, turned);
  b.floats("onnx::MatMul_6", {3, 3}, turned);
  b.node("MatMul", {"x", "onnx::MatMul_5"}, {"h"}, "/a/MatMul");
  b.node("MatMul", {"h", "onnx::MatMul_6"}, {"y"}, "/b/MatMul");
  b.output("y");
  b.state("a.weight", {3, 3}, square);
  b.state("b.weight", {3, 3}, square);
  EXPECT_EQ(b.named(),
            (Names{"a.weightf32[3x3] moved", "b.weightf32[3x3] moved"}))
      << b.error;
  ASSERT_EQ(b.table.trainingWarnings.size(), 1u);
  EXPECT_NE(b.table.trainingWarnings[0].find("--tie a.weight=b.weight"),
            std::string::npos);
}

/// A state_dict that was written without the second name of a tied weight.
TEST(StateNames, TiedWeightThatTheStateHasOnce) {
  for (bool apart : {false, true}) {
    StateBuilder b;
    const std::vector<float> square{1, 2, 3, 4, 5, 6, 7, 8, 9},
        turned{1, 4, 7, 2, 5, 8, 3, 6, 9};
    b.floats("onnx::MatMul_5", {3, 3}, turned);
    b.floats("onnx::MatMul_6", {3, 3}, turned);
    b.node("MatMul", {"x", "onnx::MatMul_5"}, {"h"}, "/a/MatMul");
    b.node("MatMul", {"h", "onnx::MatMul_6"}, {"y"}, "/b/MatMul");
    b.output("y");
    b.state("a.weight", {3, 3}, square);
    if (apart)
      b.options.unties = {"onnx::MatMul_6"};
    EXPECT_EQ(b.named(), (Names{"a.weightf32[3x3] moved"})) << b.error;
    EXPECT_EQ(b.table.copies.size(), apart ? 0u : 1u);
    EXPECT_EQ(b.table.folded, apart ? Names{"onnx::MatMul_6"} : Names());
  }
}

TEST(StateNames, LiftedConstantIsNoParameter) {
  StateBuilder b;
  b.signature("p_w: PARAMETER target='w'\nc_k: CONSTANT_TENSOR target='k'\n");
  b.floats("k", {3, 2}, kTurned);
  b.floats("s", {2}, {7, 8});
  b.node("MatMul", {"x", "k"}, {"m"});
  b.node("Add", {"m", "s"}, {"y"});
  b.output("y");
  b.state("w", {2, 3}, kMatrix);
  EXPECT_EQ(b.named(), Names()) << b.error;
  EXPECT_EQ(b.table.folded, (Names{"w"}));
}

TEST(StateNames, ConstantOfTheFileStaysOne) {
  StateBuilder b;
  b.signature("p_w: PARAMETER target='w'\np_s: PARAMETER target='s'\n");
  b.floats("val_0", {3, 2}, kTurned);
  b.floats("view", {3, 2}, kMatrix);
  b.foldedFrom("view", "['val_1', 'w']");
  b.node("MatMul", {"x", "view"}, {"m"});
  b.node("MatMul", {"x", "val_0"}, {"n"});
  b.node("Add", {"m", "n"}, {"y"});
  b.output("y");
  b.state("w", {6}, kMatrix);
  b.state("s", {2, 3}, kMatrix); // val_0, transposed
  EXPECT_EQ(b.named(), (Names{"wf32[6]"})) << b.error;
  EXPECT_EQ(b.table.folded, (Names{"s"}));
}

} // namespace
} // namespace pipec::onnx
