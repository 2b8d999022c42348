// Names of weights in files without a graph signature: see WeightTable.h.
//
// The TorchScript-based exporter keeps state_dict names, but a transposed
// Linear weight becomes onnx::MatMul_123 (MatrixNames.cpp), a stretched norm
// scale onnx::Mul_123 and PReLU's slope onnx::PRelu_123: they are named after
// the module that reads them. Files of other tools keep the initializer's name.
// In: Model. Out: WeightTable. Tests: test/unit/frontends/LegacyNamesTest.cpp,
// WeightTableTest.cpp, ModelNamesTest.cpp.
#include "frontends/onnx/ModuleNodes.h"
#include "frontends/onnx/Text.h"
#include "frontends/onnx/WeightTable.h"

#include <algorithm>
#include <cctype>

namespace pipec::onnx {
namespace {

/// A dotted name of identifiers and indices, as in a state_dict, "0.weight" of
/// a root Sequential too; "val_3", "onnx::Add_3" and "17" are none.
bool looksLikeStateDict(const std::string &name) {
  if (name.empty() || startsWith(name, "val_") || startsWith(name, "_val_"))
    return false;
  bool start = true;
  for (char c : name) {
    if (c == '.' && start)
      return false;
    if (c != '.' && c != '_' && !std::isalnum(static_cast<unsigned char>(c)))
      return false;
    start = c == '.';
  }
  return !start && !std::all_of(name.begin(), name.end(), [](char c) {
    return std::isdigit(static_cast<unsigned char>(c));
  });
}

/// An input that says how a node works: scales of a Resize, bounds of a Clip.
enum class Setting {
  None,
  Value,   // an operand like others: a parameter may stand there
  Compiled // part of what is compiled: no parameter can stand there
};

Setting settingOf(const std::string &op, int input) {
  struct Entry {
    const char *op;
    int from;
    Setting setting;
  };
  constexpr Entry kEntries[] = {{"Resize", 1, Setting::Compiled},
                                {"Range", 0, Setting::Compiled},
                                {"Dropout", 1, Setting::Compiled},
                                {"ConstantOfShape", 0, Setting::Compiled},
                                {"OneHot", 2, Setting::Value},
                                {"OneHot", 1, Setting::Compiled},
                                {"Pad", 2, Setting::Value},
                                {"Pad", 1, Setting::Compiled},
                                {"Clip", 1, Setting::Value},
                                {"Pow", 1, Setting::Value}};
  for (const Entry &entry : kEntries)
    if (op == entry.op && input >= entry.from)
      return entry.setting;
  return Setting::None;
}

bool isBufferName(const std::string &name) {
  std::string leaf = leafName(name);
  return leaf == "running_mean" || leaf == "running_var" ||
         leaf == "num_batches_tracked";
}

class TextNaming {
public:
  explicit TextNaming(const Model &model)
      : model(model), readers(readersOf(model)), modules(nodesByModule(model)),
        matrices(nameMatrices(model)) {
    for (int n = 0; n < model.graph().node_size(); ++n)
      if (model.graph().node(n).op_type() == "InstanceNormalization")
        norms.insert(model.origins[n].module);
  }
  WeightTable run();

private:
  int declareTensor(int initializer);
  bool isSetting(int initializer, bool fromPyTorch) const;
  int declareNameless(int initializer, Reader first);
  void listFoldedConvolution(Reader reader);
  int declareStretched(int initializer, const std::string &name);
  std::string inModule(Reader reader, const char *leaf) const {
    return onnx::inModule(model.origins[reader.node].module, leaf);
  }
  bool taken(const std::string &name) const {
    return table.find(name) >= 0 || model.initializerByName.count(name) != 0;
  }

  const Model &model;
  std::vector<std::vector<Reader>> readers;
  const std::map<std::string, ModuleNodes> modules;
  const MatrixNames matrices;
  std::set<std::string>
      norms; // module paths with an InstanceNormalization: group norms
  WeightTable table;
};

int TextNaming::declareStretched(int initializer, const std::string &name) {
  int decl = declare(model, table, initializer, name, WeightKind::Parameter);
  table.decls[decl].type.shape = {table.decls[decl].type.numElements()};
  return decl;
}

/// BatchNorm is folded into the convolution before it: the weight is another
/// tensor now, and what became of the norm's names the file does not say.
void TextNaming::listFoldedConvolution(Reader reader) {
  std::string weight = inModule(reader, "weight");
  if (reader.input == 1 && !taken(weight))
    table.addFolded(weight);
}

/// A tensor under the exporter's name, such as onnx::Mul_123, whose reader
/// shows which parameter it is; -1: it does not.
int TextNaming::declareNameless(int initializer, Reader first) {
  const TensorType &type = model.initializers[initializer].source.type;
  if (auto named = matrices.names.find(initializer);
      named != matrices.names.end()) {
    int known = table.find(named->second); // the module is called twice
    return known >= 0 ? known
                      : declare(model, table, initializer, named->second,
                                WeightKind::Parameter, {1, 0});
  }
  const std::string &op = model.graph().node(first.node).op_type();
  const std::string &module = model.origins[first.node].module;
  std::string weight = inModule(first, "weight"),
              bias = inModule(first, "bias");
  bool stretched = type.rank() > 1 && type.shape[0] == type.numElements();
  bool norm = stretched && norms.count(module);
  if (norm && op == "Mul" && !taken(weight))
    return declareStretched(initializer, weight);
  if (norm && op == "Add" && !taken(bias))
    return declareStretched(initializer, bias);
  // Another module may call its slope what it likes.
  if (stretched && op == "PRelu" && modules.at(module).only("PRelu") &&
      !taken(weight))
    return declareStretched(initializer, weight);
  if (op == "Conv" || op == "ConvTranspose")
    listFoldedConvolution(first);
  return -1;
}

/// Whether its readers show that a tensor is no parameter. PyTorch writes its
/// settings without a name, so a tensor with one is the module's, whoever reads
/// it.
bool TextNaming::isSetting(int initializer, bool fromPyTorch) const {
  auto settingFor = [&](Reader reader) {
    return settingOf(model.graph().node(reader.node).op_type(), reader.input);
  };
  const auto &places = readers[initializer];
  if (fromPyTorch)
    return !places.empty() &&
           std::all_of(places.begin(), places.end(), [&](Reader reader) {
             return settingFor(reader) == Setting::Compiled;
           });
  return std::any_of(places.begin(), places.end(), [&](Reader reader) {
    return settingFor(reader) != Setting::None;
  });
}

int TextNaming::declareTensor(int initializer) {
  const Initializer &tensor = model.initializers[initializer];
  const TensorType &type = tensor.source.type;
  bool floats = isFloat(type.dtype);
  if (floats && startsWith(tensor.name, "onnx::") &&
      !readers[initializer].empty()) {
    int decl = declareNameless(initializer, readers[initializer][0]);
    if (decl >= 0)
      return decl;
  }
  bool dotted = tensor.name.find('.') != std::string::npos;
  // Other tools name scalars as they like; PyTorch's constants have no
  // identifier, so a plain one is a parameter of the root.
  bool fromPyTorch = model.isFromPyTorch();
  bool setting = isSetting(initializer, fromPyTorch);
  bool named = looksLikeStateDict(tensor.name) &&
               (dotted || type.rank() > 0 || fromPyTorch) && !setting;
  if (named && isBufferName(tensor.name))
    return declare(model, table, initializer, tensor.name, WeightKind::Buffer);
  return declare(model, table, initializer, tensor.name,
                 named && floats ? WeightKind::Parameter
                                 : WeightKind::Constant);
}

WeightTable TextNaming::run() {
  table.folded = matrices.folded;
  for (int i = 0; i < static_cast<int>(model.initializers.size()); ++i) {
    WeightUse use;
    use.decl = declareTensor(i);
    use.permutation = inversePermutation(table.decls[use.decl].permutation);
    table.defaults[i] = use;
    for (Reader reader : readers[i])
      table.uses[{reader.node, reader.input}] = use;
  }
  return std::move(table);
}

} // namespace

WeightTable namesByText(const Model &model) { return TextNaming(model).run(); }

} // namespace pipec::onnx
