// Module paths, source lines and the graph signature.
#include "frontends/onnx/metadata/Metadata.h"

#include "test/unit/frontends/ModelBuilder.h"

#include <gtest/gtest.h>

namespace pipec::onnx {
namespace {

using testing::ModelBuilder;

TEST(ModulePath, OfNameScopes) {
  EXPECT_EQ(modulePathOfScopes("['', 'a', 'a.b', 'relu']"), "a.b");
  EXPECT_EQ(modulePathOfScopes("['', 'add_1']"), "");
  EXPECT_EQ(modulePathOfScopes("['', 'shared@1', 'shared@1.fc', 'x']"),
            "shared.fc");
  EXPECT_EQ(modulePathOfScopes("['x']"), std::nullopt);
  EXPECT_EQ(modulePathOfScopes("['', 'a"), std::nullopt);
  EXPECT_EQ(modulePathOfScopes(
                "['_empty_nn_module_stack_from_metadata_hook', 'sym_size']"),
            std::nullopt);
}

TEST(ModulePath, OfNamespace) {
  EXPECT_EQ(modulePathOfNamespace(
                ": pkg.Net/h: pkg.H/h.0: pkg.Block/relu: aten.relu.default"),
            "h.0");
  EXPECT_EQ(modulePathOfNamespace(": pkg.Net/add: aten.add.Tensor"), "");
}

TEST(ModulePath, OfNodeNames) {
  EXPECT_EQ(modulePathOfName("/transformer/h.0/attn/MatMul"),
            "transformer.h.0.attn");
  EXPECT_EQ(modulePathOfName("/layer1/layer1.0/conv1/Conv"), "layer1.0.conv1");
  EXPECT_EQ(modulePathOfName("/net/net.0/net.0.1/Relu_1"), "net.0.1");
  EXPECT_EQ(modulePathOfName("/Add_2"), "");
  EXPECT_EQ(modulePathOfName("Constant_376"), std::nullopt);
}

TEST(ModulePath, UnknownOnesFollowTheirNeighbours) {
  std::vector<NodeMetadata> nodes(7);
  nodes[1].module = "h.0.attn";
  nodes[3].module = "h.0.attn";
  nodes[5].module = "h.0.mlp";
  std::vector<std::string> paths = completeModulePaths(nodes);
  EXPECT_EQ(paths,
            (std::vector<std::string>{"", "h.0.attn", "h.0.attn", "h.0.attn",
                                      "h.0", "h.0.mlp", "h.0.mlp"}));
}

TEST(Metadata, InnermostSourceLine) {
  ::onnx::NodeProto node;
  ModelBuilder::metadata(&node, "pkg.torch.onnx.stack_trace",
                         "File \"net.py\", line 2, in forward\n  x = f(x)\n"
                         "  File \"layers.py\", line 31, in f\n    return x");
  NodeMetadata metadata = readNodeMetadata(node);
  EXPECT_EQ(metadata.file, "layers.py");
  EXPECT_EQ(metadata.line, 31);
}

TEST(Metadata, NamesOfAList) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(parseNameList("['a.weight', \"b\", '']"),
            (Names{"a.weight", "b", ""}));
  EXPECT_EQ(parseNameList("[]"), Names());
  EXPECT_EQ(parseNameList("['a', 'b"), Names());
}

TEST(Metadata, WhatWentIntoAFoldedValue) {
  ::onnx::GraphProto graph;
  graph.add_value_info()->set_name("plain");
  auto *value = graph.add_value_info();
  value->set_name("val_3");
  auto *entry = value->add_metadata_props();
  entry->set_key("pkg.onnxscript.optimizer.folded_from");
  entry->set_value("['fc.weight', 'val_2']");
  const auto folded = readFoldedValues(graph);
  ASSERT_EQ(folded.size(), 1u);
  EXPECT_EQ(folded.at("val_3"),
            (std::vector<std::string>{"fc.weight", "val_2"}));
}

TEST(GraphSignature, ListsParametersAndBuffers) {
  GraphSignature signature = parseGraphSignature(
      "\n# inputs\np_a_weight: PARAMETER target='a.weight'\n"
      "b_pos: BUFFER target='pos' persistent=False\n"
      "b_mean: BUFFER target='mean' persistent=True\nx: USER_INPUT\n"
      "\n# outputs\ny: USER_OUTPUT\n");
  ASSERT_EQ(signature.entries.size(), 3u);
  EXPECT_EQ(signature.entries[0].target, "a.weight");
  EXPECT_EQ(signature.entries[1].kind, GraphSignature::Kind::Temporary);
  EXPECT_EQ(signature.entries[2].kind, GraphSignature::Kind::Buffer);
  EXPECT_EQ(signature.byPlaceholder.at("b_pos"), 1u);
  // A model without parameters has a signature all the same.
  EXPECT_FALSE(parseGraphSignature("# inputs\nx: USER_INPUT\n").empty());
  EXPECT_TRUE(GraphSignature().empty());
}

TEST(FxCall, ResultAndKeywords) {
  FxCall call = parseFxCall(
      "%e : [num_users=1] = call_function[target=torch.ops.aten.embedding."
      "default](args = (%p_w, %x), kwargs = {padding_idx: 3, sizes: [1, 2]})");
  EXPECT_EQ(call.result, "e");
  EXPECT_EQ(call.args.size(), 2u);
  EXPECT_EQ(call.keywords, (std::map<std::string, std::string>{
                               {"padding_idx", "3"}, {"sizes", "[1, 2]"}}));
}

TEST(GraphSignature, AllPlaceholdersButNoOutputs) {
  GraphSignature signature = parseGraphSignature(
      "\n# inputs\np_w: PARAMETER target='w'\nc_k: CONSTANT_TENSOR "
      "target='k'\nx: USER_INPUT\n\n# outputs\ny: USER_OUTPUT\n");
  EXPECT_EQ(signature.placeholders, (std::set<std::string>{"p_w", "c_k", "x"}));
  EXPECT_EQ(signature.entries.size(), 2u);
  EXPECT_TRUE(signature.isState("w"));
  EXPECT_FALSE(signature.isState("k"));
}

TEST(FxCall, ArgumentsAndReferences) {
  FxCall call = parseFxCall(
      "%index : [num_users=1] = call_function[target=torch.ops.aten.index."
      "Tensor](args = (%add, [None, %b_pos], 1e-05), kwargs = {y: %z})");
  EXPECT_EQ(call.target, "torch.ops.aten.index.Tensor");
  EXPECT_EQ(call.args,
            (std::vector<std::string>{"%add", "[None, %b_pos]", "1e-05"}));
  EXPECT_EQ(call.references, (std::vector<std::string>{"add", "b_pos", "z"}));
  EXPECT_TRUE(parseFxCall("nonsense").target.empty());
}

} // namespace
} // namespace pipec::onnx
