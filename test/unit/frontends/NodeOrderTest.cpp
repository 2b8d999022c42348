// Nodes out of topological order, and what has no order.
#include "frontends/onnx/metadata/Model.h"

#include "test/unit/frontends/ImportHelper.h"

#include <gtest/gtest.h>

namespace pipec::onnx {
namespace {

using namespace testing;

std::vector<std::string> names(const ::onnx::GraphProto &graph) {
  std::vector<std::string> list;
  for (const auto &node : graph.node())
    list.push_back(node.name());
  return list;
}

/// y = -(|x| + c), c being a Constant node; from the last node to the first.
ModelBuilder backwards() {
  ModelBuilder builder;
  builder.input("x", {"2"});
  builder.node("Neg", {"sum"}, {"y"});
  builder.node("Add", {"size", "c"}, {"sum"});
  auto *constant = builder.node("Constant", {}, {"c"})->add_attribute();
  constant->set_name("value");
  constant->set_type(::onnx::AttributeProto::TENSOR);
  constant->mutable_t()->set_data_type(::onnx::TensorProto::FLOAT);
  constant->mutable_t()->add_dims(100); // larger than what stays in the message
  constant->mutable_t()->set_raw_data(std::string(400, '\0'));
  builder.node("Abs", {"x"}, {"size"});
  builder.output("y");
  return builder;
}

TEST(NodeOrder, ProducersComeFirst) {
  ModelBuilder builder = backwards();
  EXPECT_EQ(sortNodes(*builder.graph()), (std::vector<int>{3, 2, 1, 0}));
  EXPECT_EQ(
      names(*builder.graph()),
      (std::vector<std::string>{"node_size", "node_c", "node_sum", "node_y"}));
  EXPECT_TRUE(sortNodes(*builder.graph()).empty());
}

TEST(NodeOrder, TheRestKeepsTheFilesOrder) {
  ModelBuilder builder;
  builder.input("x", {"2"});
  builder.node("Abs", {"x"}, {"a"});
  builder.node("Neg", {"late"}, {"b"});
  builder.node("Add", {"a", "b"}, {"y"});
  builder.node("Relu", {"x"}, {"late"});
  EXPECT_EQ(sortNodes(*builder.graph()), (std::vector<int>{0, 3, 1, 2}));
}

TEST(NodeOrder, AFileIsReadAndSaysSo) {
  ScratchFolder folder;
  ModelBuilder builder = backwards();
  builder.graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_value(100);
  Imported result = importFile(folder.write("m.onnx", builder.bytes()));
  ASSERT_TRUE(result.ok()) << result.message();
  ASSERT_EQ(result.notices.size(), 1u);
  EXPECT_NE(result.notices[0].find("not in topological order"),
            std::string::npos);
  auto out =
      result.run({{"x", floatTensor({100}, std::vector<float>(100, -3))}});
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(floatsOf((*out)[0])[99], -3);
}

TEST(NodeOrder, OriginsCountTheWalk) {
  ScratchFolder folder;
  ModelBuilder builder;
  builder.input("x", {"2"});
  builder.node("Neg", {"late"}, {"b"});
  builder.node("Add", {"x", "b"}, {"y"});
  builder.node("Relu", {"x"}, {"late"});
  builder.output("y");
  Imported result = importFile(folder.write("m.onnx", builder.bytes()));
  ASSERT_TRUE(result.ok()) << result.message();
  std::map<std::string, int64_t> numbers; // by operator
  result.graph().walk([&](mlir::Operation *op) {
    const Origin origin = pipe::originOf(op->getLoc());
    if (origin.index >= 0)
      numbers[origin.op] = origin.index;
  });
  EXPECT_EQ(numbers, (std::map<std::string, int64_t>{
                         {"Relu", 0}, {"Neg", 1}, {"Add", 2}}));
}

TEST(NodeOrder, ChainsAreAsLongAsTheyAre) {
  ModelBuilder builder;
  builder.input("x", {"2"});
  constexpr int kNodes = 100000;
  for (int n = kNodes; n > 0; --n)
    builder.node("Neg", {n == 1 ? "x" : "v" + std::to_string(n - 1)},
                 {"v" + std::to_string(n)});
  std::vector<int> order = sortNodes(*builder.graph());
  ASSERT_EQ(order.size(), size_t(kNodes));
  EXPECT_EQ(order.front(), kNodes - 1);
}

TEST(NodeOrder, ACycleHasNone) {
  ScratchFolder folder;
  for (const char *reads : {"y", "size"}) {
    ModelBuilder builder = backwards();
    builder.graph()->mutable_node(3)->set_input(0, reads);
    EXPECT_TRUE(sortNodes(*builder.graph()).empty());
    auto model = OnnxModel::open(folder.write("m.onnx", builder.bytes()));
    ASSERT_FALSE(model.ok());
    EXPECT_NE(model.status().message().find("the graph has a cycle"),
              std::string::npos)
        << model.status().message();
  }
}

} // namespace
} // namespace pipec::onnx
