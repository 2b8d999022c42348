// Puts back the biases that the exporter's optimizer took away because they are
// zero: see Model.h.
//
// A fresh model has many of them, and training moves them. The file records the
// rule with the node, and the call says which parameter stood there; of a
// linear layer and of a convolution its shape follows from the weight's. addmm
// adds any shape: its summand comes back where a layer has it too, or the file.
// In: a Model whose tensors are located. Out: an initializer of zeros for each,
// which the node reads. Tests: test/unit/frontends/RemovedBiasesTest.cpp.
#include "frontends/common/Text.h"
#include "frontends/onnx/metadata/CallOperands.h"

#include <cstring>

namespace pipec::onnx {
namespace {

constexpr const char *kRule = "pkg.onnxscript.rewriter.rule_name";

/// How many elements the node's bias has; 0: unknown.
int64_t biasElements(const Model &model, const ::onnx::NodeProto &node) {
  auto weight = model.initializerByName.find(node.input(1));
  if (weight == model.initializerByName.end())
    return 0;
  const TensorType &type = model.initializers[weight->second].source.type;
  const auto &shape = type.shape;
  // No more elements than the file has for the weight: it may say anything.
  if (shape.size() < 2 || type.numElements() == 0)
    return 0;
  auto number = [&](const char *name, int64_t otherwise) {
    for (const auto &attribute : node.attribute())
      if (attribute.name() == name)
        return attribute.i();
    return otherwise;
  };
  if (node.op_type() == "Gemm")
    return shape[number("transB", 0) ? 0 : 1];
  if (node.op_type() == "Conv")
    return shape[0];
  const int64_t group = number("group", 1);
  return group > 0 && group <= shape[0] ? shape[1] * group : 0;
}

/// Names that stand for something else than an initializer.
std::set<std::string> takenNames(const Model &model) {
  std::set<std::string> taken;
  for (const auto &input : model.graph().input())
    taken.insert(input.name());
  for (const auto &node : model.graph().node())
    taken.insert(node.output().begin(), node.output().end());
  return taken;
}

Status addZeros(Model &model, const std::string &name, const TensorType &type) {
  PIPEC_ASSIGN_OR_RETURN(Tensor zeros, Tensor::allocate(type));
  std::memset(zeros.data(), 0, type.byteSize());
  Initializer made;
  made.name = name;
  made.source.type = type;
  made.source.inlined = std::move(zeros);
  model.initializerByName[name] = static_cast<int>(model.initializers.size());
  model.initializers.push_back(std::move(made));
  return {};
}

} // namespace

Status restoreRemovedBiases(Model &model) {
  // Layers first: they say of which shape the parameter is.
  std::vector<std::pair<int, std::string>> removed, summands;
  {
    const CallOperands operands(model);
    for (int n = 0; n < model.graph().node_size(); ++n) {
      const auto &node = model.graph().node(n);
      const std::string *rule = findMetadata(node.metadata_props(), kRule);
      if (!rule || node.input_size() != 2 ||
          *rule != "RemoveOptionalBiasFrom" + node.op_type())
        continue;
      if (auto name = operands.biasOf(n))
        (operands.isLayer(n) ? removed : summands).emplace_back(n, *name);
    }
  }
  if (removed.empty() && summands.empty())
    return {};
  const std::set<std::string> taken = takenNames(model);
  for (const auto &[n, name] : removed) {
    auto &node = *model.proto.mutable_graph()->mutable_node(n);
    const int64_t elements = biasElements(model, node);
    if (!elements || taken.count(name))
      continue;
    const TensorType type{
        model.initializers[model.initializerByName.at(node.input(1))]
            .source.type.dtype,
        {elements}};
    if (!model.initializerByName.count(name))
      PIPEC_RETURN_IF_ERROR(addZeros(model, name, type));
    else if (model.initializers[model.initializerByName.at(name)].source.type !=
             type)
      continue;
    node.add_input(name);
  }
  for (const auto &[n, name] : summands)
    if (model.initializerByName.count(name))
      model.proto.mutable_graph()->mutable_node(n)->add_input(name);
  return {};
}

} // namespace pipec::onnx
