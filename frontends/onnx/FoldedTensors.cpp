// What the TorchScript-based exporter made of parameters, where the nodes do
// not show which they were: see WeightTable.h.
//
// In: a Model, the table that namesByText made. Out: `folded` of the table,
// with names that exist. PyTorch's constants are nodes: a tensor of several
// elements under a name of the exporter's comes from parameters or buffers.
// Tests: test/unit/frontends/LegacyNamesTest.cpp.
#include "frontends/onnx/WeightTable.h"

#include "frontends/onnx/ModuleNodes.h"
#include "frontends/onnx/Text.h"

#include <algorithm>

namespace pipec::onnx {
namespace {

bool isConvolution(const ::onnx::NodeProto &node) {
  return node.op_type() == "Conv" || node.op_type() == "ConvTranspose";
}

class FoldedTensors {
public:
  FoldedTensors(const Model &model, WeightTable &table)
      : model(model), table(table), readers(readersOf(model)),
        modules(nodesByModule(model)) {}

  void run() {
    for (int n = 0; n < model.graph().node_size(); ++n)
      if (!model.aliasNode[n] && isConvolution(model.graph().node(n)))
        nameConvolution(n);
    for (size_t i = 0; i < model.initializers.size(); ++i)
      if (isUnknown(static_cast<int>(i)))
        table.addFolded(model.initializers[i].name);
  }

private:
  /// A module that calls the function itself lends the weight no name of its
  /// own: the bias may tell whose it is.
  void nameConvolution(int n) {
    auto &folded = table.folded;
    const std::string &module = model.origins[n].module;
    auto at =
        std::find(folded.begin(), folded.end(), inModule(module, "weight"));
    if (at == folded.end())
      return;
    auto bias = table.uses.find({n, 2});
    if (bias != table.uses.end()) {
      const WeightDecl &decl = table.decls[bias->second.decl];
      if (decl.kind != WeightKind::Constant && leafName(decl.name) == "bias")
        *at = inModule(parentName(decl.name), "weight");
      return;
    }
    if (modules.at(module).parent)
      *at = model.graph().node(n).input(1);
  }

  bool isUnknown(int initializer) const {
    const Initializer &tensor = model.initializers[initializer];
    const TensorType &type = tensor.source.type;
    const auto use = table.defaults.find(initializer);
    if (!startsWith(tensor.name, "onnx::") || !isFloat(type.dtype) ||
        type.numElements() < 2 || readers[initializer].empty() ||
        use == table.defaults.end() ||
        table.decls[use->second.decl].kind != WeightKind::Constant)
      return false;
    return std::none_of(
        readers[initializer].begin(), readers[initializer].end(),
        [&](Reader reader) { return isKnownElsewhere(reader); });
  }

  /// Matrices and convolutions are listed by what they are part of.
  bool isKnownElsewhere(Reader reader) const {
    const auto &node = model.graph().node(reader.node);
    const std::string projection =
        inModule(model.origins[reader.node].module, "in_proj_bias");
    return isConvolution(node) || node.op_type() == "MatMul" ||
           std::find(table.folded.begin(), table.folded.end(), projection) !=
               table.folded.end();
  }

  const Model &model;
  WeightTable &table;
  const std::vector<std::vector<Reader>> readers;
  const std::map<std::string, ModuleNodes> modules;
};

} // namespace

void listFoldedTensors(const Model &model, WeightTable &table) {
  FoldedTensors(model, table).run();
}

} // namespace pipec::onnx
