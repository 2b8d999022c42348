// Names of matrices that lost theirs: see WeightTable.h.
//
// The TorchScript-based exporter transposes the weight of a matrix product and
// calls it onnx::MatMul_123. Which parameter that was shows in the module that
// reads it: nn.Linear has one matrix, nn.MultiheadAttention has projections
// whose sizes tell which is which. Any other module may call its parameters
// what it likes. A wrong name would put a checkpoint's tensor into the wrong
// place, so such a matrix keeps the exporter's name, as a constant, and is
// listed as folded.
//
// In: a Model without a graph signature. Out: MatrixNames. Tests:
// test/unit/frontends/LegacyNamesTest.cpp.
#include "frontends/onnx/ModuleNodes.h"
#include "frontends/onnx/Text.h"
#include "frontends/onnx/WeightTable.h"

#include <algorithm>

namespace pipec::onnx {
namespace {

using Shape = std::vector<int64_t>;

class MatrixNaming {
public:
  explicit MatrixNaming(const Model &model)
      : model(model), modules(nodesByModule(model)) {
    for (int n = 0; n < model.graph().node_size(); ++n)
      if (model.aliasNode[n])
        firstName[model.graph().node(n).output(0)] =
            model.graph().node(n).input(0);
  }
  MatrixNames run();

private:
  using Matrices = std::vector<int>; // initializers, in the order of reading
  Matrices matricesOf(const ModuleNodes &module);
  bool nameLinear(const std::string &path, const ModuleNodes &module,
                  const Matrices &matrices);
  bool nameAttention(const std::string &path, const ModuleNodes &module,
                     const Matrices &matrices);
  bool nameBareAttention(const std::string &path, const ModuleNodes &module,
                         const Matrices &matrices);
  void giveNames(const std::string &path, const Matrices &matrices,
                 const std::vector<const char *> &leaves);
  bool addsBias(const std::string &path, const ModuleNodes &module) const;
  bool addsNameless(const ModuleNodes &module) const;
  bool hasNamesBelow(const std::string &path) const;
  bool hasOtherProducts(const ModuleNodes &module) const;
  const Shape &shapeOf(int initializer) const {
    return model.initializers[initializer].source.type.shape;
  }
  /// Sizes in the file, rows by columns: [in, out].
  bool isSized(int initializer, int64_t rows, int64_t columns) const {
    return shapeOf(initializer) == Shape{rows, columns};
  }

  const Model &model;
  const std::map<std::string, ModuleNodes> modules;
  std::map<std::string, std::string> firstName; // of merged initializers
  std::map<int, int> again; // matrices of a second call: that of the first
  MatrixNames result;
};

/// Equal matrices are stored once, the others are Identity nodes of it. A
/// module that is called twice reads both; they count once.
MatrixNaming::Matrices MatrixNaming::matricesOf(const ModuleNodes &module) {
  Matrices matrices;
  std::map<std::string, int> byFirstName;
  for (int n : module.nodes) {
    const auto &node = model.graph().node(n);
    if (node.op_type() != "MatMul" || node.input_size() != 2)
      continue;
    auto found = model.initializerByName.find(node.input(1));
    if (found == model.initializerByName.end() ||
        !startsWith(found->first, "onnx::MatMul_"))
      continue;
    const TensorType &type = model.initializers[found->second].source.type;
    if (!isFloat(type.dtype) || type.rank() != 2)
      continue;
    auto first = firstName.find(found->first);
    auto [entry, isNew] = byFirstName.emplace(
        first == firstName.end() ? found->first : first->second, found->second);
    if (isNew)
      matrices.push_back(found->second);
    else if (entry->second != found->second)
      again[found->second] = entry->second;
  }
  return matrices;
}

void MatrixNaming::giveNames(const std::string &path, const Matrices &matrices,
                             const std::vector<const char *> &leaves) {
  for (size_t i = 0; i < leaves.size(); ++i)
    result.names.emplace(matrices[i], inModule(path, leaves[i]));
}

/// A bias of its own, or in a layer that does nothing else one that another
/// module registered first.
bool MatrixNaming::addsBias(const std::string &path,
                            const ModuleNodes &module) const {
  std::string bias = inModule(path, "bias");
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
bool MatrixNaming::hasOtherProducts(const ModuleNodes &module) const {
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
bool MatrixNaming::nameLinear(const std::string &path,
                              const ModuleNodes &module,
                              const Matrices &matrices) {
  bool bare = module.likeLinear() && !module.ops.count("Add");
  bool only = !path.empty() && !hasNamesBelow(path);
  if (matrices.size() != 1 || module.parent || hasOtherProducts(module) ||
      !(bare || addsBias(path, module) || (only && !module.likeLinear())))
    return false;
  giveNames(path, matrices, {"weight"});
  return true;
}

bool MatrixNaming::addsNameless(const ModuleNodes &module) const {
  return std::any_of(module.nodes.begin(), module.nodes.end(), [&](int n) {
    const auto &node = model.graph().node(n);
    return node.op_type() == "Add" &&
           std::any_of(node.input().begin(), node.input().end(),
                       [&](const std::string &name) {
                         return startsWith(name, "onnx::") &&
                                model.initializerByName.count(name);
                       });
  });
}

/// nn.MultiheadAttention: it reads the weight of its out_proj, which is never
/// called, itself. Its query, key and value may be projected by one matrix, by
/// three, or by slices of one, which are not the parameter.
bool MatrixNaming::nameAttention(const std::string &path,
                                 const ModuleNodes &module,
                                 const Matrices &matrices) {
  auto out = model.initializerByName.find(inModule(path, "out_proj.weight"));
  if (out == model.initializerByName.end() ||
      modules.count(inModule(path, "out_proj")) ||
      shapeOf(out->second).size() != 2)
    return false;
  const int64_t e = shapeOf(out->second)[0];
  int64_t columns = 0;
  bool allFromE = true;
  for (int matrix : matrices) {
    allFromE &= shapeOf(matrix)[0] == e;
    columns += shapeOf(matrix)[1];
  }
  if (columns != 3 * e)
    return false;
  bool separate = matrices.size() == 3 && isSized(matrices[0], e, e) &&
                  shapeOf(matrices[1])[1] == e && !allFromE;
  if (matrices.size() == 1 && allFromE)
    giveNames(path, matrices, {"in_proj_weight"});
  else if (separate)
    giveNames(path, matrices,
              {"q_proj_weight", "k_proj_weight", "v_proj_weight"});
  else if (allFromE)
    result.folded.push_back(inModule(path, "in_proj_weight"));
  else
    return false;
  std::string bias = inModule(path, "in_proj_bias");
  if (!model.initializerByName.count(bias) && addsNameless(module))
    result.folded.push_back(bias);
  return true;
}

bool MatrixNaming::hasNamesBelow(const std::string &path) const {
  std::string prefix = path + ".";
  auto next = model.initializerByName.lower_bound(prefix);
  return next != model.initializerByName.end() &&
         startsWith(next->first, prefix);
}

/// nn.MultiheadAttention(bias=False): no name is left. Softmax between
/// projections of these sizes, in a leaf, is taken for it; for one matrix of
/// all projections there has to be the Squeeze by which PyTorch takes them
/// apart. Slices of it are like those of many a module: not recognised.
bool MatrixNaming::nameBareAttention(const std::string &path,
                                     const ModuleNodes &module,
                                     const Matrices &matrices) {
  if (path.empty() || module.parent || !module.ops.count("Softmax") ||
      hasNamesBelow(path) || matrices.size() < 2)
    return false;
  const int64_t e = shapeOf(matrices.back())[0];
  if (!isSized(matrices.back(), e, e))
    return false;
  if (matrices.size() == 2 && isSized(matrices[0], e, 3 * e) &&
      module.ops.count("Squeeze")) {
    giveNames(path, matrices, {"in_proj_weight", "out_proj.weight"});
    return true;
  }
  if (matrices.size() != 4 || !isSized(matrices[0], e, e) ||
      shapeOf(matrices[1])[1] != e || shapeOf(matrices[2])[1] != e ||
      (shapeOf(matrices[1])[0] == e && shapeOf(matrices[2])[0] == e))
    return false;
  giveNames(
      path, matrices,
      {"q_proj_weight", "k_proj_weight", "v_proj_weight", "out_proj.weight"});
  return true;
}

MatrixNames MatrixNaming::run() {
  for (const auto &[path, module] : modules) {
    Matrices matrices = matricesOf(module);
    if (!matrices.empty() && !nameLinear(path, module, matrices) &&
        !nameAttention(path, module, matrices) &&
        !nameBareAttention(path, module, matrices))
      for (int matrix : matrices)
        result.folded.push_back(model.initializers[matrix].name);
  }
  for (auto [second, first] : again)
    if (auto named = result.names.find(first); named != result.names.end())
      result.names.emplace(second, named->second);
  return std::move(result);
}

} // namespace

MatrixNames nameMatrices(const Model &model) {
  return MatrixNaming(model).run();
}

} // namespace pipec::onnx
