// Names of weights in files without a graph signature: see Names.h.
//
// The TorchScript-based exporter keeps state_dict names, but a transposed
// Linear weight becomes onnx::MatMul_123, a stretched norm
// scale onnx::Mul_123 and PReLU's slope onnx::PRelu_123: they are named after
// the module that reads them, or are a moved copy of a parameter that has its
// name. Files of other tools keep the initializer's name.
// In: Model. Out: WeightTable. Tests: test/unit/frontends/LegacyNamesTest.cpp,
// WeightTableTest.cpp, ModelNamesTest.cpp.
#include "frontends/common/Text.h"
#include "frontends/common/WeightTableBuilder.h"
#include "frontends/onnx/names/ModuleNodes.h"
#include "frontends/onnx/names/Names.h"

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

/// The input is part of what is compiled, such as the scales of a Resize: no
/// parameter can stand there.
bool isCompiled(const std::string &op, int input) {
  return op == "Range" || (op == "OneHot" && input == 1) ||
         ((op == "Resize" || op == "Dropout") && input > 0);
}

/// The input says how a node works: the bounds of a Clip.
bool isSettingOf(const std::string &op, int input) {
  static const std::set<std::string> kOps{"Clip", "OneHot", "Pad", "Pow"};
  return isCompiled(op, input) || (input > 0 && kOps.count(op));
}

bool isBufferName(const std::string &name) {
  std::string leaf = leafName(name);
  return leaf == "running_mean" || leaf == "running_var" ||
         leaf == "num_batches_tracked";
}

bool isConvolution(const ::onnx::NodeProto &node) {
  return node.op_type() == "Conv" || node.op_type() == "ConvTranspose";
}

class TextNaming {
public:
  TextNaming(const Model &model, const ImportOptions &options)
      : model(model), readers(readersOf(model)), modules(nodesByModule(model)),
        table(model.initializers, options) {
    nameMatrices();
  }
  WeightTable run();

private:
  using Shape = std::vector<int64_t>;
  using Matrices = std::vector<int>; // initializers, in the order of reading
  void nameMatrices();
  Matrices matricesOf(const ModuleNodes &module);
  bool nameLinear(const std::string &path, const ModuleNodes &module,
                  const Matrices &matrices);
  void nameAttention(const std::string &path, const ModuleNodes &module,
                     const Matrices &matrices);
  void giveNames(const std::string &path, const Matrices &matrices,
                 const std::vector<const char *> &leaves);
  bool addsBias(const std::string &path, const ModuleNodes &module) const;
  void listBiases(const std::string &path, const ModuleNodes &module);
  bool hasOtherProducts(const ModuleNodes &module) const;
  const Shape &shapeOf(int initializer) const {
    return model.initializers[initializer].source.type.shape;
  }
  std::optional<Claim> match(int initializer);
  std::optional<Claim> matchNameless(int initializer, Reader first);
  bool isSetting(int initializer) const;
  bool isNameless(int initializer) const;
  std::string madeOf(int initializer) const;
  void listFolded(WeightTable &made) const;
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
  std::map<int, std::string> matrixNames; // by initializer
  std::map<int, std::string> parts; // of which parameter a tensor is a part
  std::map<int, int> again; // matrices of a second call: that of the first
  WeightTableBuilder table;
};

/// Equal matrices are stored once, under several names. A module that is called
/// twice reads both; they count once.
TextNaming::Matrices TextNaming::matricesOf(const ModuleNodes &module) {
  Matrices matrices;
  for (int n : module.nodes) {
    const auto &node = model.graph().node(n);
    if (node.op_type() != "MatMul" || node.input_size() != 2)
      continue;
    auto found = model.initializerByName.find(node.input(1));
    if (found == model.initializerByName.end() ||
        !startsWith(found->first, "onnx::MatMul_"))
      continue;
    const int matrix = found->second;
    const TensorSource &source = model.initializers[matrix].source;
    if (!isFloat(source.type.dtype) || source.type.rank() != 2)
      continue;
    auto first = std::find_if(matrices.begin(), matrices.end(), [&](int other) {
      return samePlace(model.initializers[other].source, source);
    });
    if (first == matrices.end())
      matrices.push_back(matrix);
    else if (*first != matrix)
      again[matrix] = *first;
  }
  return matrices;
}

void TextNaming::giveNames(const std::string &path, const Matrices &matrices,
                           const std::vector<const char *> &leaves) {
  for (size_t i = 0; i < leaves.size(); ++i)
    matrixNames.emplace(matrices[i], onnx::inModule(path, leaves[i]));
}

/// A bias of its own, or in a layer that does nothing else one that another
/// module registered first.
bool TextNaming::addsBias(const std::string &path,
                          const ModuleNodes &module) const {
  std::string bias = onnx::inModule(path, "bias");
  auto isBias = [&](const std::string &name) {
    return name == bias || (module.likeLinear() && endsWith(name, ".bias") &&
                            model.initializerByName.count(name));
  };
  return std::any_of(module.nodes.begin(), module.nodes.end(), [&](int n) {
    const auto &inputs = model.graph().node(n).input();
    return model.graph().node(n).op_type() == "Add" &&
           std::any_of(inputs.begin(), inputs.end(), isBias);
  });
}

/// A product of something else than the exporter's matrices: nn.Linear has
/// none.
bool TextNaming::hasOtherProducts(const ModuleNodes &module) const {
  return std::any_of(module.nodes.begin(), module.nodes.end(), [&](int n) {
    const auto &node = model.graph().node(n);
    return (node.op_type() == "MatMul" || node.op_type() == "Gemm") &&
           (node.input_size() < 2 ||
            !startsWith(node.input(1), "onnx::MatMul_"));
  });
}

/// A leaf with one matrix that does nothing else, or adds the bias that
/// nn.Linear would (and may go on with the sum: a class derived from it). Where
/// a leaf that does more has no other parameter, that is called `weight` too
/// (the gate of a mixture of experts).
bool TextNaming::nameLinear(const std::string &path, const ModuleNodes &module,
                            const Matrices &matrices) {
  bool bare = module.likeLinear() && !module.ops.count("Add");
  auto below = model.initializerByName.lower_bound(path + ".");
  bool only = !path.empty() && !module.likeLinear() &&
              (below == model.initializerByName.end() ||
               !startsWith(below->first, path + "."));
  if (matrices.size() != 1 || module.parent || hasOtherProducts(module) ||
      !(bare || only || addsBias(path, module)))
    return false;
  giveNames(path, matrices, {"weight"});
  return true;
}

/// Slices of the attention's bias.
void TextNaming::listBiases(const std::string &path,
                            const ModuleNodes &module) {
  for (int n : module.nodes)
    for (const std::string &name : model.graph().node(n).input())
      if (auto bias = model.initializerByName.find(name);
          bias != model.initializerByName.end() && startsWith(name, "onnx::") &&
          model.graph().node(n).op_type() == "Add")
        parts[bias->second] = onnx::inModule(path, "in_proj_bias");
}

/// nn.MultiheadAttention: it reads the weight of its out_proj, which is never
/// called, itself. Its query, key and value may be projected by one matrix, by
/// three, or by slices of one, which are not the parameter.
void TextNaming::nameAttention(const std::string &path,
                               const ModuleNodes &module,
                               const Matrices &matrices) {
  auto out =
      model.initializerByName.find(onnx::inModule(path, "out_proj.weight"));
  if (out == model.initializerByName.end() ||
      modules.count(onnx::inModule(path, "out_proj")) ||
      shapeOf(out->second).size() != 2)
    return;
  const int64_t e = shapeOf(out->second)[0];
  int64_t columns = 0;
  bool allFromE = true;
  for (int matrix : matrices) {
    allFromE &= shapeOf(matrix)[0] == e;
    columns += shapeOf(matrix)[1];
  }
  if (columns != 3 * e)
    return;
  bool separate = matrices.size() == 3 && shapeOf(matrices[0]) == Shape{e, e} &&
                  shapeOf(matrices[1])[1] == e && !allFromE;
  if (matrices.size() == 1 && allFromE)
    giveNames(path, matrices, {"in_proj_weight"});
  else if (separate)
    giveNames(path, matrices,
              {"q_proj_weight", "k_proj_weight", "v_proj_weight"});
  else if (allFromE)
    for (int matrix : matrices)
      parts[matrix] = onnx::inModule(path, "in_proj_weight");
  else
    return;
  listBiases(path, module);
}

/// Which parameter an onnx::MatMul_123 was shows in the module that reads it:
/// nn.Linear has one matrix, nn.MultiheadAttention has projections whose sizes
/// tell which is which. Any other module may call its parameters what it likes:
/// a wrong name would put a checkpoint's tensor into the wrong place.
void TextNaming::nameMatrices() {
  for (const auto &[path, module] : modules) {
    Matrices matrices = matricesOf(module);
    if (!matrices.empty() && !nameLinear(path, module, matrices))
      nameAttention(path, module, matrices);
  }
  for (auto [second, first] : again)
    for (auto *names : {&matrixNames, &parts})
      if (auto named = names->find(first); named != names->end())
        names->emplace(second, named->second);
}

Claim TextNaming::claimStretched(int initializer,
                                 const std::string &name) const {
  Claim made = claimOf(model.initializers, initializer, name);
  made.type.shape = {made.type.numElements()};
  return made;
}

/// Of which parameter a nameless tensor was made, as far as the nodes show it;
/// else its own name. BatchNorm is folded into the convolution before it: what
/// became of the norm's names the file does not say. A module that calls the
/// function lends the weight no name, but the bias may tell whose it is.
std::string TextNaming::madeOf(int initializer) const {
  const std::string &own = model.initializers[initializer].name;
  const auto part = parts.find(initializer);
  if (part != parts.end())
    return part->second;
  const Reader first = readers[initializer][0];
  const auto &node = model.graph().node(first.node);
  if (!isConvolution(node) || first.input < 1)
    return own;
  std::string module = model.origins[first.node].module;
  const std::string bias = node.input_size() > 2 ? node.input(2) : "";
  if (leafName(bias) == "bias")
    module = parentName(bias);
  else if (bias.empty() && modules.at(module).parent)
    return own;
  const std::string name =
      onnx::inModule(module, first.input == 1 ? "weight" : "bias");
  return taken(name) ? own : name;
}

/// PyTorch's constants are nodes: a tensor of several elements under a number
/// comes from parameters or buffers. A single number may come of numbers, too.
void TextNaming::listFolded(WeightTable &made) const {
  std::vector<std::string> numbers;
  for (const auto &[initializer, use] : made.defaults) {
    const Initializer &tensor = model.initializers[initializer];
    if (!isNameless(initializer) || made.refuted.count(initializer) ||
        made.decls[use.decl].kind != WeightKind::Constant)
      continue;
    if (tensor.source.type.numElements() > 1 ||
        isConvolution(model.graph().node(readers[initializer][0].node)))
      made.addFolded(madeOf(initializer));
    else if (model.isFromPyTorch())
      numbers.push_back(tensor.name);
  }
  if (!numbers.empty())
    made.trainingWarnings.push_back(
        joined(numbers) +
        (numbers.size() == 1 ? " is a number" : " are numbers") +
        " that the exporter computed: if from a parameter, such as exp(-w), "
        "that is not trained through it, and may have been left out; export "
        "with do_constant_folding=False or dynamo=True");
}

/// A tensor under the exporter's name, such as onnx::Mul_123, whose reader
/// shows which parameter it is.
std::optional<Claim> TextNaming::matchNameless(int initializer, Reader first) {
  const TensorType &type = model.initializers[initializer].source.type;
  if (auto named = matrixNames.find(initializer); named != matrixNames.end()) {
    return claimOf(model.initializers, initializer, named->second)
        .moved({1, 0});
  }
  const std::string &op = model.graph().node(first.node).op_type();
  const ModuleNodes &module = modules.at(model.origins[first.node].module);
  std::string weight = inModule(first, "weight"),
              bias = inModule(first, "bias");
  bool stretched = type.rank() > 1 && type.shape[0] == type.numElements();
  bool norm = stretched && module.ops.count("InstanceNormalization");
  if (norm && op == "Mul" && !taken(weight))
    return claimStretched(initializer, weight);
  if (norm && op == "Add" && !taken(bias))
    return claimStretched(initializer, bias);
  // Another module may call its slope what it likes.
  if (stretched && op == "PRelu" && module.only("PRelu") && !taken(weight))
    return claimStretched(initializer, weight);
  return table.claimCopyOfAny(initializer);
}

/// Whether its readers show that a tensor is no parameter. PyTorch writes its
/// settings without a name, so a tensor with one is the module's, whoever reads
/// it.
bool TextNaming::isSetting(int initializer) const {
  const auto &places = readers[initializer];
  auto all = [&](Reader reader) {
    return isCompiled(model.graph().node(reader.node).op_type(), reader.input);
  };
  auto any = [&](Reader reader) {
    return isSettingOf(model.graph().node(reader.node).op_type(), reader.input);
  };
  return model.isFromPyTorch()
             ? !places.empty() && std::all_of(places.begin(), places.end(), all)
             : std::any_of(places.begin(), places.end(), any);
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
  bool named = looksLikeStateDict(tensor.name) &&
               (dotted || type.rank() > 0 || model.isFromPyTorch()) &&
               !isSetting(initializer);
  if (named && isBufferName(tensor.name))
    return claimOf(model.initializers, initializer, tensor.name,
                   WeightKind::Buffer);
  return named && isFloat(type.dtype)
             ? std::optional(
                   claimOf(model.initializers, initializer, tensor.name))
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
  listFolded(made);
  return made;
}

} // namespace

WeightTable namesByText(const Model &model, const ImportOptions &options) {
  return TextNaming(model, options).run();
}

} // namespace pipec::onnx
