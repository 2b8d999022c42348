// Names of weights in files without a graph signature: see WeightTable.h.
//
// The TorchScript-based exporter keeps state_dict names, but a transposed
// Linear weight becomes onnx::MatMul_123 (MatrixNames.cpp), a stretched norm
// scale onnx::Mul_123 and PReLU's slope onnx::PRelu_123: they are named after
// the module that reads them, or are a moved copy of a parameter that has its
// name. Files of other tools keep the initializer's name.
// In: Model. Out: WeightTable. Tests: test/unit/frontends/LegacyNamesTest.cpp,
// WeightTableTest.cpp, ModelNamesTest.cpp.
#include "frontends/onnx/ModuleNodes.h"
#include "frontends/onnx/Text.h"
#include "frontends/onnx/WeightTableBuilder.h"

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
  TextNaming(const Model &model, Progress progress)
      : model(model), readers(readersOf(model)), modules(nodesByModule(model)),
        matrices(nameMatrices(model)), table(model, std::move(progress)) {
    for (int n = 0; n < model.graph().node_size(); ++n)
      if (model.graph().node(n).op_type() == "InstanceNormalization")
        norms.insert(model.origins[n].module);
  }
  WeightTable run();

private:
  std::optional<Claim> match(int initializer);
  std::optional<Claim> matchNameless(int initializer, Reader first);
  bool isSetting(int initializer, bool fromPyTorch) const;
  bool isNameless(int initializer) const;
  void listFoldedConvolution(Reader reader);
  Claim claim(int initializer, const std::string &name,
              WeightKind kind = WeightKind::Parameter) const;
  Claim claimStretched(int initializer, const std::string &name) const;
  std::string inModule(Reader reader, const char *leaf) const {
    return onnx::inModule(model.origins[reader.node].module, leaf);
  }
  bool taken(const std::string &name) const {
    return table.made().find(name) >= 0 ||
           model.initializerByName.count(name) != 0;
  }

  const Model &model;
  std::vector<std::vector<Reader>> readers;
  const std::map<std::string, ModuleNodes> modules;
  const MatrixNames matrices;
  std::set<std::string>
      norms; // module paths with an InstanceNormalization: group norms
  WeightTableBuilder table;
  std::vector<std::string> folded;
};

Claim TextNaming::claim(int initializer, const std::string &name,
                        WeightKind kind) const {
  Claim made;
  made.name = name;
  made.kind = kind;
  made.owner = initializer;
  made.type = model.initializers[initializer].source.type;
  return made;
}

Claim TextNaming::claimStretched(int initializer,
                                 const std::string &name) const {
  Claim made = claim(initializer, name);
  made.type.shape = {made.type.numElements()};
  return made;
}

/// BatchNorm is folded into the convolution before it: weight and bias are
/// other tensors now, and what became of the norm's names the file does not
/// say.
void TextNaming::listFoldedConvolution(Reader reader) {
  if (reader.input != 1 && reader.input != 2)
    return;
  std::string name = inModule(reader, reader.input == 1 ? "weight" : "bias");
  if (!taken(name))
    folded.push_back(std::move(name));
}

/// A tensor under the exporter's name, such as onnx::Mul_123, whose reader
/// shows which parameter it is.
std::optional<Claim> TextNaming::matchNameless(int initializer, Reader first) {
  const TensorType &type = model.initializers[initializer].source.type;
  if (auto named = matrices.names.find(initializer);
      named != matrices.names.end()) {
    table.noteEqual(initializer);
    Claim made = claim(initializer, named->second);
    std::swap(made.type.shape[0], made.type.shape[1]);
    made.declared = {1, 0};
    return made;
  }
  const std::string &op = model.graph().node(first.node).op_type();
  const std::string &module = model.origins[first.node].module;
  std::string weight = inModule(first, "weight"),
              bias = inModule(first, "bias");
  bool stretched = type.rank() > 1 && type.shape[0] == type.numElements();
  bool norm = stretched && norms.count(module);
  if (norm && op == "Mul" && !taken(weight))
    return claimStretched(initializer, weight);
  if (norm && op == "Add" && !taken(bias))
    return claimStretched(initializer, bias);
  // Another module may call its slope what it likes.
  if (stretched && op == "PRelu" && modules.at(module).only("PRelu") &&
      !taken(weight))
    return claimStretched(initializer, weight);
  if (auto copy = table.claimCopyOfAny(initializer))
    return copy;
  if (op == "Conv" || op == "ConvTranspose")
    listFoldedConvolution(first);
  return std::nullopt;
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

bool TextNaming::isNameless(int initializer) const {
  const Initializer &tensor = model.initializers[initializer];
  return isFloat(tensor.source.type.dtype) &&
         startsWith(tensor.name, "onnx::") && !readers[initializer].empty();
}

std::optional<Claim> TextNaming::match(int initializer) {
  const Initializer &tensor = model.initializers[initializer];
  const TensorType &type = tensor.source.type;
  if (isNameless(initializer))
    return matchNameless(initializer, readers[initializer][0]);
  bool dotted = tensor.name.find('.') != std::string::npos;
  // Other tools name scalars as they like; PyTorch's constants have no
  // identifier, so a plain one is a parameter of the root.
  bool fromPyTorch = model.isFromPyTorch();
  bool setting = isSetting(initializer, fromPyTorch);
  bool named = looksLikeStateDict(tensor.name) &&
               (dotted || type.rank() > 0 || fromPyTorch) && !setting;
  if (named && isBufferName(tensor.name))
    return claim(initializer, tensor.name, WeightKind::Buffer);
  return named && isFloat(type.dtype)
             ? std::optional(claim(initializer, tensor.name))
             : std::nullopt;
}

/// Those that have their names first: others may be copies of them.
WeightTable TextNaming::run() {
  const int count = static_cast<int>(model.initializers.size());
  for (bool nameless : {false, true})
    for (int i = 0; i < count; ++i) {
      if (isNameless(i) != nameless)
        continue;
      const std::optional<Claim> claim = match(i);
      if (readers[i].empty())
        table.keep(i, claim);
      for (Reader reader : readers[i])
        table.read(i, reader, claim);
    }
  WeightTable made = table.take();
  made.folded = matrices.folded;
  for (const std::string &name : folded)
    made.addFolded(name);
  return made;
}

} // namespace

WeightTable namesByText(const Model &model, Progress progress) {
  return TextNaming(model, std::move(progress)).run();
}

} // namespace pipec::onnx
