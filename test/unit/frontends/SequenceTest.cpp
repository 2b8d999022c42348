// Lists of tensors, known at import: what is left of them, and messages.
#include "test/unit/frontends/ImportHelper.h"

#include <gtest/gtest.h>

using namespace pipec;
using namespace pipec::onnx;
using namespace pipec::onnx::testing;

namespace {

const Tensor kX = floatTensor({5, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});

/// x [5, 2], and the constants that the nodes below read.
ModelBuilder model() {
  ModelBuilder builder;
  builder.input("x", {"5", "2"});
  builder.input("which", {}, ::onnx::TensorProto::INT64);
  for (int64_t value : {-3, -2, -1, 0, 1, 2, 3})
    builder.ints(std::to_string(value), {}, {value});
  builder.ints("2,3", {2}, {2, 3});
  builder.ints("2,2", {2}, {2, 2});
  builder.floats("1.5", {}, {1.5});
  return builder;
}

Imported imported(ModelBuilder &builder) {
  ScratchFolder folder;
  return importFile(folder.write("m.onnx", builder.bytes()));
}

/// y, which the nodes make.
Tensor result(ModelBuilder &builder, int type = ::onnx::TensorProto::FLOAT) {
  builder.output("y", {}, type);
  ScratchFolder folder; // constants are read from the file
  Imported made = importFile(folder.write("m.onnx", builder.bytes()));
  EXPECT_TRUE(made.ok()) << made.message();
  if (!made.ok())
    return Tensor();
  EXPECT_EQ(made.text().find("equence"), std::string::npos);
  const int64_t zero = 0;
  auto out = made.run(
      {{"x", kX}, {"which", *Tensor::copyOf({DType::I64, {}}, &zero)}});
  EXPECT_TRUE(out.ok()) << out.status().message();
  return out.ok() ? (*out)[0] : Tensor();
}

/// "the_node" is the faulty one.
void expectFault(ModelBuilder &builder, const std::string &text) {
  if (!builder.graph()->output_size())
    builder.output("y");
  auto *last = builder.graph()->mutable_node(builder.graph()->node_size() - 1);
  last->set_name("the_node");
  ModelBuilder::metadata(last, "pkg.torch.onnx.name_scopes",
                         "['', 'attention', 'the_node']");
  const std::string message = imported(builder).message();
  EXPECT_NE(message.find("node 'the_node' (" + last->op_type() +
                         ", module attention): " + text),
            std::string::npos)
      << message;
}

TEST(Sequence, PartsOfASplit) {
  struct Case {
    const char *split, *position;
    int64_t keepdims;
    std::vector<int64_t> shape;
    float first;
  };
  for (const Case &each : {Case{"", "3", 1, {1, 2}, 6},
                           {"", "-2", 0, {2}, 6},
                           {"2", "0", 1, {2, 2}, 0},
                           {"2", "-1", 0, {1, 2}, 8},
                           {"2,3", "1", 0, {3, 2}, 4}}) {
    ModelBuilder builder = model();
    std::vector<std::string> inputs{"x"};
    if (*each.split)
      inputs.push_back(each.split);
    auto *node = builder.node("SplitToSequence", inputs, {"parts"});
    ModelBuilder::attribute(node, "axis", int64_t(-2));
    ModelBuilder::attribute(node, "keepdims", each.keepdims);
    builder.node("SequenceAt", {"parts", each.position}, {"y"});
    Tensor y = result(builder);
    ASSERT_EQ(y.shape(), each.shape);
    EXPECT_EQ(floatsOf(y)[0], each.first);
  }
}

TEST(Sequence, GrowsAndShrinksAtEveryPosition) {
  ModelBuilder builder = model();
  builder.node("Neg", {"x"}, {"a"});
  builder.node("Abs", {"x"}, {"b"});
  builder.node("SequenceEmpty", {}, {"s0"});
  builder.node("SequenceInsert", {"s0", "a"}, {"s1"});       // a
  builder.node("SequenceInsert", {"s1", "b", "-1"}, {"s2"}); // b a
  builder.node("SequenceInsert", {"s2", "x", "2"}, {"s3"});  // b a x
  builder.node("Identity", {"s3"}, {"s4"});
  builder.node("SequenceErase", {"s4", "-3"}, {"s5"}); // a x
  builder.node("SequenceErase", {"s5"}, {"s6"});       // a
  builder.node("SequenceAt", {"s6", "0"}, {"y"});
  Tensor y = result(builder);
  ASSERT_EQ(y.shape(), (std::vector<int64_t>{5, 2}));
  EXPECT_EQ(floatsOf(y)[9], -9);
}

TEST(Sequence, JoinsAndStacks) {
  for (int64_t stacks : {0, 1}) {
    ModelBuilder builder = model();
    builder.node("Neg", {"x"}, {"a"});
    builder.node("SequenceConstruct", {"x", "a"}, {"s"});
    auto *node = builder.node("ConcatFromSequence", {"s"}, {"y"});
    ModelBuilder::attribute(node, "axis", int64_t(-1));
    ModelBuilder::attribute(node, "new_axis", stacks);
    Tensor y = result(builder);
    ASSERT_EQ(y.shape(), stacks ? (std::vector<int64_t>{5, 2, 2})
                                : (std::vector<int64_t>{5, 4}));
    EXPECT_EQ(floatsOf(y)[1], stacks ? 0 : 1);
    EXPECT_EQ(floatsOf(y)[3], -1);
  }
}

TEST(Sequence, LengthIsKnownAtImport) {
  ModelBuilder builder = model();
  builder.node("SplitToSequence", {"x", "2"}, {"parts"});
  builder.node("SequenceLength", {"parts"}, {"n"});
  builder.node("Sub", {"n", "1"}, {"last"});
  builder.node("SequenceAt", {"parts", "last"}, {"y"});
  EXPECT_EQ(result(builder).shape(), (std::vector<int64_t>{1, 2}));
}

TEST(Sequence, PositionsAreCheckedAndKnown) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"SequenceAt", "s", "2"},
       "position 2 is out of range for a list of 2 tensors"},
      {{"SequenceAt", "s", "-3"}, "position -3 is out of range"},
      {{"SequenceAt", "s", "which"},
       "position (input 'which') depends on data; pipec needs it known at"},
      {{"SequenceAt", "s", "2,3"}, "position (input '2,3') is i64[2], not one"},
      {{"SequenceAt", "s", "1.5"}, "position (input '1.5') is f32[], not one"},
      {{"SequenceAt", "s"}, "position is missing"},
      {{"SequenceInsert", "s", "x", "3"}, "position 3 is out of range"},
      {{"SequenceInsert", "s", "x", "-3"}, "position -3 is out of range"},
      {{"SequenceErase", "s", "2"}, "position 2 is out of range"}};
  for (const auto &[node, text] : cases) {
    ModelBuilder builder = model();
    builder.node("SequenceConstruct", {"x", "x"}, {"s"});
    builder.node(node[0], {node.begin() + 1, node.end()}, {"y"});
    expectFault(builder, text);
  }
}

TEST(Sequence, ListsAndTensorsAreToldApart) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"SequenceAt", "x", "0"},
       "input 0 ('x') is one tensor, SequenceAt takes a list of tensors"},
      {{"ConcatFromSequence", "x"}, "input 0 ('x') is one tensor"},
      {{"Relu", "s"},
       "input 0 ('s') is a list of 1 tensors, Relu takes one tensor there"},
      {{"SequenceInsert", "s", "s"}, "input 1 ('s') is a list of 1 tensors"},
      {{"SequenceInsert", "s", "0"},
       "tensor '0' is i64[], the list's tensors are f32"},
      {{"SequenceConstruct", "x", "0"},
       "the tensors of a list have one element type: input 0 is f32[5x2], "
       "input 1 ('0') is i64[]"},
      {{"SequenceErase", "none"}, "the list is empty"},
      {{"ConcatFromSequence", "none"}, "the list is empty"},
      {{"SplitToSequence", "x", "2,2"}, "split [2, 2] does not add up to 5"},
      {{"SplitToSequence", "x", "0"}, "split is 0, not 1 or more"}};
  for (const auto &[node, text] : cases) {
    ModelBuilder builder = model();
    builder.node("SequenceConstruct", {"x"}, {"s"});
    builder.node("SequenceEmpty", {}, {"none"});
    builder.node(node[0], {node.begin() + 1, node.end()}, {"y"});
    expectFault(builder, text);
  }
}

TEST(Sequence, PartsThatDoNotJoinAreNamed) {
  ModelBuilder builder = model();
  builder.node("SplitToSequence", {"x", "2"}, {"parts"});
  auto *node = builder.node("ConcatFromSequence", {"parts"}, {"y"});
  ModelBuilder::attribute(node, "axis", int64_t(0));
  ModelBuilder::attribute(node, "new_axis", int64_t(1));
  expectFault(builder, "part 2 of the list is f32[1x2], part 0 is f32[2x2]");
}

TEST(Sequence, AGraphOutputIsNoList) {
  ModelBuilder builder = model();
  builder.node("SequenceConstruct", {"x", "x"}, {"y"});
  builder.output("y");
  const std::string message = imported(builder).message();
  EXPECT_NE(message.find("graph output 'y' is a list of 2 tensors; return the "
                         "tensors themselves"),
            std::string::npos)
      << message;
}

} // namespace
