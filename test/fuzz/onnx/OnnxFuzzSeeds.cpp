// Writes the seed corpus of the ONNX fuzzer: small valid models of several
// kinds.
//
// In: a folder. Out: one file a seed in it; the exit status is 0 when all are
// written.
#include "test/unit/frontends/ModelBuilder.h"

#include <cstdio>

using pipec::onnx::testing::ModelBuilder;

namespace {

ModelBuilder linear() {
  ModelBuilder builder;
  builder.input("x", {"batch", "2"});
  builder.signature("p_fc_weight: PARAMETER target='fc.weight'\n");
  builder.floats("val_0", {2, 40}, std::vector<float>(80, 0.5f));
  auto *node = builder.node("MatMul", {"x", "val_0"}, {"y"});
  ModelBuilder::metadata(node, "pkg.torch.onnx.name_scopes", "['', 'fc', 'l']");
  ModelBuilder::metadata(
      node, "pkg.torch.onnx.fx_node",
      "%l : [num_users=1] = call_function[target=torch.ops.aten.linear."
      "default](args = (%x, %p_fc_weight), kwargs = {})");
  builder.output("y");
  return builder;
}

ModelBuilder shapes() {
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
  builder.node("Reshape", {"x", "to"}, {"r"});
  builder.ints("one", {1}, {1});
  builder.node("Slice", {"r", "axis0", "one", "one"}, {"y"});
  builder.output("y");
  return builder;
}

ModelBuilder convolution() {
  ModelBuilder builder;
  builder.input("x", {"batch", "2", "5", "5"});
  builder.floats("conv.weight", {2, 2, 3, 3}, std::vector<float>(36, 0.1f));
  auto *conv = builder.node("Conv", {"x", "conv.weight"}, {"c"});
  ModelBuilder::attribute(conv, "pads", std::vector<int64_t>{1, 1, 1, 1});
  auto *pool = builder.node("MaxPool", {"c"}, {"p"});
  ModelBuilder::attribute(pool, "kernel_shape", std::vector<int64_t>{2, 2});
  builder.node("Softmax", {"p"}, {"y"});
  builder.output("y");
  return builder;
}

ModelBuilder external() {
  ModelBuilder builder = linear();
  auto *tensor = builder.graph()->mutable_initializer(0);
  tensor->clear_raw_data();
  tensor->set_data_location(::onnx::TensorProto::EXTERNAL);
  auto *entry = tensor->add_external_data();
  entry->set_key("location");
  entry->set_value("w.bin");
  return builder;
}

/// A table and its transpose stored apart, by the TorchScript-based exporter:
/// names of weights follow from those of nodes. `padding` varies what the
/// fuzzer asks for.
ModelBuilder tied(const std::string &padding) {
  ModelBuilder builder(17);
  builder.graph()->set_doc_string(padding);
  builder.input("ids", {"batch", "3"}, ::onnx::TensorProto::INT64);
  std::vector<float> table, transposed(12);
  for (int i = 0; i < 12; ++i)
    table.push_back(static_cast<float>(i) / 8);
  for (int i = 0; i < 12; ++i)
    transposed[i % 2 * 6 + i / 2] = table[i];
  builder.floats("wte.weight", {6, 2}, table);
  builder.floats("onnx::MatMul_9", {2, 6}, transposed);
  builder.floats("norm.weight", {2}, {1, 1});
  builder.node("Identity", {"norm.weight"}, {"norm2.weight"}, "Identity_1");
  builder.node("Gather", {"wte.weight", "ids"}, {"e"}, "/wte/Gather");
  builder.node("Mul", {"e", "norm.weight"}, {"n"}, "/norm/Mul");
  builder.node("Mul", {"n", "norm2.weight"}, {"n2"}, "/norm2/Mul");
  builder.node("MatMul", {"n2", "onnx::MatMul_9"}, {"y"}, "/head/MatMul");
  builder.output("y");
  return builder;
}

/// The same by the dynamo exporter.
ModelBuilder tiedSignature(const std::string &padding) {
  ModelBuilder builder = tied(padding);
  builder.signature("p_wte_weight: PARAMETER target='wte.weight'\n"
                    "p_head_weight: PARAMETER target='head.weight'\n"
                    "b_norm_weight: BUFFER target='norm.weight' "
                    "persistent=True\n");
  for (auto &node : *builder.graph()->mutable_node()) {
    bool head = node.op_type() == "MatMul";
    ModelBuilder::metadata(
        &node, "namespace",
        head ? ": m.M/head: torch.Linear/linear: aten.linear"
             : ": m.M/wte: torch.Embedding/e: aten.embedding");
    ModelBuilder::metadata(
        &node, "pkg.torch.onnx.fx_node",
        head ? "%l : [num_users=1] = call_function[target=torch.ops.aten."
               "linear.default](args = (%e, %p_head_weight), kwargs = {})"
             : "%e : [num_users=1] = call_function[target=torch.ops.aten."
               "embedding.default](args = (%p_wte_weight, %ids), kwargs = {})");
  }
  return builder;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: pipec_onnx_fuzz_seeds FOLDER\n");
    return 2;
  }
  std::filesystem::create_directories(argv[1]);
  const std::pair<const char *, ModelBuilder> seeds[] = {
      {"linear", linear()},
      {"shapes", shapes()},
      {"convolution", convolution()},
      {"external", external()},
      {"tied0", tied("")},
      {"tied1", tied(" ")},
      {"tied2", tied("  ")},
      {"tied3", tied("   ")},
      {"tied4", tied("    ")},
      {"tied5", tied("     ")},
      {"signature0", tiedSignature("")},
      {"signature1", tiedSignature("  ")},
      {"signature2", tiedSignature("    ")}};
  for (const auto &[name, builder] : seeds) {
    std::ofstream file(std::filesystem::path(argv[1]) / name, std::ios::binary);
    file << builder.bytes();
    if (!file.good())
      return 1;
  }
  return 0;
}
