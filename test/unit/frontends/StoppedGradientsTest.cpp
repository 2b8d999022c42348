// .detach(): as an Identity node, and as an argument of the call that reads it.
#include "frontends/onnx/names/StoppedGradients.h"

#include "test/unit/frontends/ImportHelper.h"

#include <gtest/gtest.h>

namespace pipec::onnx {
namespace {

using namespace testing;
using Readers = std::set<std::pair<int, int>>;

StoppedGradients find(ModelBuilder &builder) {
  ScratchFolder folder;
  auto model = openModel(folder.write("m.onnx", builder.bytes()));
  EXPECT_TRUE(model.ok()) << model.status().message();
  return model.ok() ? findStoppedGradients(**model) : StoppedGradients();
}

/// Node 0 is h = x * w.
ModelBuilder start() {
  ModelBuilder builder;
  builder.input("x", {"2"});
  builder.signature("p_w: PARAMETER target='w'\np_v: PARAMETER target='v'\n"
                    "x_0: USER_INPUT\n");
  builder.floats("w", {2}, {1, 2});
  builder.floats("v", {2}, {3, 4});
  builder.output("y");
  fxNode(builder.node("Mul", {"x", "w"}, {"h"}), "",
         "aten.mul.Tensor](args = (%x_0, %p_w)", "h");
  return builder;
}

TEST(StoppedGradients, Identity) {
  ModelBuilder builder = start();
  fxNode(builder.node("Identity", {"h"}, {"detach"}), "",
         "aten.detach.default](args = (%h,)", "detach");
  fxNode(builder.node("Relu", {"detach"}, {"y"}), "",
         "aten.relu.default](args = (%detach,)", "y");
  EXPECT_EQ(find(builder).inputs, (Readers{{1, 0}}));
}

TEST(StoppedGradients, TheOnlyValueWithoutAnArgument) {
  ModelBuilder builder = start();
  builder.floats("two", {}, {2});
  fxNode(builder.node("Pow", {"h", "two"}, {"val"}), "",
         "aten.f.default](args = (%detach_3, %p_v)", "y");
  fxNode(builder.node("Mul", {"val", "v"}, {"z"}), "",
         "aten.f.default](args = (%detach_3, %p_v)", "y");
  fxNode(builder.node("Add", {"z", "h"}, {"y"}), "",
         "aten.f.default](args = (%detach_3, %p_v)", "y");
  const StoppedGradients found = find(builder);
  EXPECT_EQ(found.inputs, (Readers{{1, 0}, {3, 1}}));
  EXPECT_TRUE(found.unclear.empty());
}

TEST(StoppedGradients, ParameterAndBothOfTwo) {
  ModelBuilder parameter = start();
  fxNode(parameter.node("Mul", {"h", "v"}, {"y"}), "",
         "aten.mul.Tensor](args = (%h, %detach)", "y");
  EXPECT_EQ(find(parameter).inputs, (Readers{{1, 1}}));
  ModelBuilder both = start();
  fxNode(both.node("Mul", {"h", "v"}, {"y"}), "",
         "aten.mul.Tensor](args = (%detach, %detach_1)", "y");
  EXPECT_EQ(find(both).inputs, (Readers{{1, 0}, {1, 1}}));
}

TEST(StoppedGradients, ByPlaceWhereOneValueIsBoth) {
  ModelBuilder builder = start();
  fxNode(builder.node("Sub", {"h", "h"}, {"y"}), "",
         "aten.sub.Tensor](args = (%h, %detach)", "y");
  EXPECT_EQ(find(builder).inputs, (Readers{{1, 1}}));
}

TEST(StoppedGradients, NothingIsGuessed) {
  // h may be what view was, and the detached value a constant.
  ModelBuilder builder = start();
  fxNode(builder.node("Mul", {"h", "x"}, {"y"}), "",
         "aten.mul.Tensor](args = (%view, %detach)", "y");
  const StoppedGradients found = find(builder);
  EXPECT_TRUE(found.inputs.empty());
  EXPECT_EQ(found.unclear, std::vector<int>{1});
  // Two equal nodes, one of a detached value, are one: the second was h_1.
  ModelBuilder merged = start();
  fxNode(merged.node("Relu", {"h"}, {"r"}), "",
         "aten.relu.default](args = (%detach,)", "r");
  fxNode(merged.node("Add", {"r", "h"}, {"y"}), "",
         "aten.add.Tensor](args = (%r_1, %h)", "y");
  EXPECT_EQ(find(merged).unclear, std::vector<int>{2});
  EXPECT_EQ(find(merged).merged, std::vector<int>{2});
  // A size, and a mask.
  ModelBuilder sizes = start();
  fxNode(sizes.node("Reshape", {"h", "n"}, {"r"}), "",
         "aten.view.default](args = (%h, [%h_1])", "r");
  fxNode(sizes.node("Equal", {"h", "w"}, {"e"}), "",
         "aten.eq.Tensor](args = (%h, %p_w)", "eq");
  fxNode(sizes.node("Where", {"e", "h", "r"}, {"y"}), "",
         "aten.where.self](args = (%eq_1, %h, %r)", "y");
  sizes.initializer<int64_t>("n", ::onnx::TensorProto::INT64, {1}, {2});
  EXPECT_TRUE(find(sizes).merged.empty());
  // A value that is called so is no trace of one that is gone.
  ModelBuilder named = start();
  fxNode(named.node("Relu", {"h"}, {"r"}), "",
         "aten.relu.default](args = (%h,)", "detach");
  fxNode(named.node("Neg", {"r"}, {"y"}), "",
         "aten.neg.default](args = (%detach,)", "y");
  EXPECT_TRUE(find(named).inputs.empty());
  EXPECT_TRUE(find(named).unclear.empty());
}

TEST(StoppedGradients, ImportedForTrainingAlone) {
  ModelBuilder builder = start();
  fxNode(builder.node("Mul", {"h", "v"}, {"y"}), "",
         "aten.mul.Tensor](args = (%detach, %p_v)", "y");
  ScratchFolder folder;
  const std::string path = folder.write("m.onnx", builder.bytes());
  ImportOptions options;
  EXPECT_EQ(importFile(path, options).count("stop_gradient"), 0);
  options.training = true;
  EXPECT_EQ(importFile(path, options).count("stop_gradient"), 1);
}

} // namespace
} // namespace pipec::onnx
