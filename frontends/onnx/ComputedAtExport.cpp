// What an exporter took away from training, as far as the file shows it:
// tensors computed at export from parameters, buffers that look like
// parameters, tables with padding_idx, and parameters without their names.
//
// An optimizer that computes exp(t) once leaves an initializer in its place.
// Exporters of today record what went into it (Model::folded). In files of
// older ones the fx call names a value that nothing makes any more; whether a
// parameter was its source the file does not say: only modules that hold
// parameters themselves are suspected, so that tables made of buffers and
// indices (rotary embeddings, masks) give no alarm. In: Model, WeightTable.
// Out: names. Tests: test/unit/frontends/ComputedAtExportTest.cpp.
#include "frontends/onnx/Text.h"
#include "frontends/onnx/WeightTable.h"

#include <algorithm>
#include <cmath>

namespace pipec::onnx {
namespace {

/// "full_3" of "full".
bool isNumbered(const std::string &name, const char *base) {
  if (!startsWith(name, base))
    return false;
  return name.find_first_not_of("_0123456789", std::string(base).size()) ==
         std::string::npos;
}

bool isOneOf(const std::string &name, std::initializer_list<const char *> all) {
  return std::any_of(all.begin(), all.end(),
                     [&](const char *base) { return isNumbered(name, base); });
}

/// Results of operators that read parameters almost always.
bool isOfWeights(const std::string &name) {
  return isOneOf(name, {"addmm", "bilinear", "conv1d", "conv2d", "conv3d",
                        "convolution", "embedding", "group_norm", "layer_norm",
                        "linear", "rms_norm"});
}

/// A mask to add to scores: numbers that no parameter leads to.
bool isMask(const TensorSource &source) {
  constexpr int64_t kMostElements = int64_t(1) << 22;
  if (source.type.dtype != DType::F32 ||
      source.type.numElements() > kMostElements)
    return false;
  auto tensor = source.load();
  if (!tensor.ok())
    return false;
  const auto *values = static_cast<const float *>(tensor->data());
  return std::any_of(
      values, values + source.type.numElements(),
      [](float value) { return std::isinf(value) || std::abs(value) > 1e30f; });
}

/// The nodes of one fx call.
struct CallNodes {
  const FxCall *call = nullptr;
  std::vector<int> nodes;
};

class ComputedFinder {
public:
  ComputedFinder(const Model &model, const WeightTable &table)
      : model(model), table(table) {
    for (int n = 0; n < model.graph().node_size(); ++n) {
      const FxCall &call = model.calls[n];
      const auto &outputs = model.graph().node(n).output();
      made.insert(outputs.begin(), outputs.end());
      if (call.result.empty())
        continue;
      made.insert(call.result);
      auto &group = groups[call.result];
      group.call = &call;
      group.nodes.push_back(n);
    }
  }
  std::vector<ComputedTensor> run();

private:
  struct Reads {
    std::vector<Reader> constants; // float initializers that are no weights
    std::set<int> weights;         // declarations
    std::set<std::string> values;  // made by other calls, or inputs
  };
  Reads readsOf(const CallNodes &group) const;
  std::vector<std::string> missingOf(const FxCall &call) const;
  std::vector<std::string> parametersNear(const std::string &module) const;
  void addRecorded();
  void addRefuted();
  void addMissing(const CallNodes &group, const Reads &reads);
  void addUnread(const CallNodes &group, const Reads &reads);
  bool isFactor(const Initializer &tensor,
                const std::vector<std::string> &parameters) const;
  void add(Reader reader, std::vector<std::string> parameters, bool certain);
  const Initializer &initializerOf(Reader reader) const {
    return model.initializers[model.initializerByName.at(
        model.graph().node(reader.node).input(reader.input))];
  }

  const Model &model;
  const WeightTable &table;
  std::map<std::string, CallNodes> groups; // by fx name
  std::set<std::string> made;              // values of ONNX nodes and of fx
  std::set<std::string> found;             // initializers
  std::vector<ComputedTensor> computed;
};

ComputedFinder::Reads ComputedFinder::readsOf(const CallNodes &group) const {
  Reads reads;
  std::set<std::string> own;
  for (int n : group.nodes)
    own.insert(model.graph().node(n).output().begin(),
               model.graph().node(n).output().end());
  for (int n : group.nodes)
    for (int k = 0; k < model.graph().node(n).input_size(); ++k) {
      const std::string &name = model.graph().node(n).input(k);
      auto use = table.uses.find({n, k});
      if (use != table.uses.end()) {
        const WeightDecl &decl = table.decls[use->second.decl];
        if (decl.kind != WeightKind::Constant)
          reads.weights.insert(use->second.decl);
        else if (isFloat(decl.type.dtype))
          reads.constants.push_back({n, k});
      } else if (!name.empty() && !own.count(name)) {
        reads.values.insert(name);
      }
    }
  return reads;
}

/// Values that the call reads and nothing makes.
std::vector<std::string> ComputedFinder::missingOf(const FxCall &call) const {
  std::vector<std::string> missing;
  for (const std::string &name : call.references)
    if (!made.count(name) && !model.signature.placeholders.count(name) &&
        !isMadeOfNumbers(name))
      missing.push_back(name);
  return missing;
}

/// Parameters that the module or one around it holds itself.
std::vector<std::string>
ComputedFinder::parametersNear(const std::string &module) const {
  std::vector<std::string> names;
  for (const WeightDecl &decl : table.decls) {
    std::string holder = parentName(decl.name);
    if (decl.kind == WeightKind::Parameter &&
        (holder.empty() || holder == module ||
         startsWith(module, holder + ".")))
      names.push_back(decl.name);
  }
  return names;
}

void ComputedFinder::add(Reader reader, std::vector<std::string> parameters,
                         bool certain) {
  const Initializer &tensor = initializerOf(reader);
  if (!found.insert(tensor.name).second)
    return;
  std::string where = model.where(reader.node);
  if (startsWith(where, model.path + ": "))
    where = where.substr(model.path.size() + 2);
  computed.push_back({tensor.name, where, std::move(parameters), certain});
}

/// One number, where no parameter is one: a scale, not what an operator made of
/// the parameters.
bool ComputedFinder::isFactor(
    const Initializer &tensor,
    const std::vector<std::string> &parameters) const {
  return tensor.source.type.numElements() == 1 &&
         std::none_of(
             parameters.begin(), parameters.end(),
             [&](const std::string &name) {
               return table.decls[table.find(name)].type.numElements() == 1;
             });
}

/// A tensor stands where the call reads a value that nothing makes. Values that
/// do nothing (a slice of all rows) are taken out too, but there an input of
/// the node is left for each.
void ComputedFinder::addMissing(const CallNodes &group, const Reads &reads) {
  std::vector<std::string> missing = missingOf(*group.call);
  if (missing.empty())
    return;
  std::set<std::string> values;
  for (const std::string &name : group.call->references)
    if (!model.signature.byPlaceholder.count(name))
      values.insert(name);
  const bool fewer = reads.values.size() < values.size();
  for (Reader reader : reads.constants) {
    const Initializer &tensor = initializerOf(reader);
    bool named =
        std::find(missing.begin(), missing.end(), tensor.name) != missing.end();
    std::vector<std::string> near =
        parametersNear(model.origins[reader.node].module);
    bool stands =
        named || (fewer && tensor.source.type.rank() > 0 &&
                  !isMadeOfNumbers(tensor.name) && !isFactor(tensor, near));
    if (stands && (!near.empty() || isOfWeights(tensor.name)) &&
        !isMask(tensor.source))
      add(reader, std::move(near), false);
  }
}

/// The call reads a parameter, its nodes read a tensor made of it.
void ComputedFinder::addUnread(const CallNodes &group, const Reads &reads) {
  for (const std::string &name : group.call->references) {
    auto entry = model.signature.byPlaceholder.find(name);
    if (entry == model.signature.byPlaceholder.end())
      continue;
    const std::string &target = model.signature.entries[entry->second].target;
    int decl = table.find(target);
    if (decl < 0 || table.decls[decl].kind != WeightKind::Parameter ||
        reads.weights.count(decl))
      continue;
    for (Reader reader : reads.constants)
      if (!isFactor(initializerOf(reader), {target}))
        add(reader, {target}, true);
  }
}

/// The exporter's own record.
void ComputedFinder::addRecorded() {
  for (const auto &[place, use] : table.uses) {
    const WeightDecl &decl = table.decls[use.decl];
    if (decl.kind != WeightKind::Constant || !isFloat(decl.type.dtype) ||
        isMadeOfNumbers(decl.name))
      continue;
    std::vector<std::string> parameters;
    for (const std::string &name : stateSourcesOf(model, decl.name))
      if (model.signature.entries[model.signature.byTarget.at(name)].kind ==
          GraphSignature::Kind::Parameter)
        parameters.push_back(name);
    if (!parameters.empty())
      add({place.first, place.second}, std::move(parameters), true);
  }
}

/// The place says that it is a parameter, the bytes say that it is not.
void ComputedFinder::addRefuted() {
  for (const auto &[place, use] : table.uses) {
    const WeightDecl &decl = table.decls[use.decl];
    auto refuted = table.refuted.find(decl.initializer);
    if (decl.kind == WeightKind::Constant && refuted != table.refuted.end())
      add({place.first, place.second}, {refuted->second}, false);
  }
}

std::vector<ComputedTensor> ComputedFinder::run() {
  addRecorded();
  addRefuted();
  if (!model.folded.empty())
    return std::move(computed);
  for (const auto &[name, group] : groups) {
    Reads reads = readsOf(group);
    if (reads.constants.empty())
      continue;
    addUnread(group, reads);
    addMissing(group, reads);
  }
  return std::move(computed);
}

/// Names that torch.nn, or habit, gives to parameters and not to buffers, as
/// they are: a name with one of them in it (e_score_correction_bias,
/// ema_weight) may be either.
bool isUsualName(const WeightTable &table, const std::string &name) {
  const std::string leaf = leafName(name);
  constexpr const char *kDigits = "0123456789";
  if (leaf.find_first_not_of(kDigits) == std::string::npos)
    return true;                      // nn.ParameterList
  if (startsWith(leaf, "original") && // torch.nn.utils.parametrize
      leaf.find_first_not_of(kDigits, 8) == std::string::npos)
    return true;
  if (leaf == "weight_v") // spectral_norm has a buffer of that name
    return table.find(parentName(name) + ".weight_g") >= 0;
  static const std::set<std::string> kNames{
      "bias",         "bias_k",         "bias_v",      "gamma",
      "in_proj_bias", "lora_A",         "lora_B",      "weight",
      "weight_g",     "in_proj_weight", "weight_orig",
  };
  const char *const recurrent[] = {"weight_ih", "weight_hh", "weight_hr",
                                   "bias_ih", "bias_hh"};
  const char *const ends[] = {"_proj", "_proj_weight", "_proj_bias", "_token"};
  return kNames.count(leaf) ||
         std::any_of(std::begin(recurrent), std::end(recurrent),
                     [&](const std::string &base) {
                       return leaf == base || startsWith(leaf, base + "_l");
                     }) ||
         std::any_of(std::begin(ends), std::end(ends),
                     [&](const char *end) { return endsWith(leaf, end); });
}

} // namespace

bool isMadeOfNumbers(const std::string &name) {
  return isOneOf(name, {"arange", "eye", "full", "full_like", "lift_fresh_copy",
                        "linspace", "new_full", "new_ones", "new_zeros", "ones",
                        "ones_like", "scalar_tensor", "scalar_tensor_default",
                        "zeros", "zeros_like"});
}

std::vector<ComputedTensor> findComputed(const Model &model,
                                         const WeightTable &table) {
  return ComputedFinder(model, table).run();
}

LostParameters findLost(const Model &model, const WeightTable &table) {
  LostParameters lost;
  std::set<std::string> traces; // what calls read and what values came from
  for (const FxCall &call : model.calls)
    for (const std::string &name : call.references)
      if (auto entry = model.signature.byPlaceholder.find(name);
          entry != model.signature.byPlaceholder.end())
        traces.insert(model.signature.entries[entry->second].target);
  for (const auto &[value, sources] : model.folded)
    traces.insert(sources.begin(), sources.end());
  // A file without a signature: something is there that nobody knows.
  const bool nameless =
      model.signature.empty() &&
      std::any_of(
          table.decls.begin(), table.decls.end(), [&](const WeightDecl &decl) {
            return decl.kind == WeightKind::Constant &&
                   startsWith(decl.name, "onnx::") && isFloat(decl.type.dtype);
          });
  for (const std::string &name : table.folded)
    if (!endsWith(name, "(buffer)") &&
        (model.signature.empty()
             ? nameless
             : traces.count(name) || model.initializerByName.count(name)))
      lost.names.push_back(name);
  lost.all = lost.names.size();
  for (const WeightDecl &decl : table.decls)
    if (decl.kind == WeightKind::Parameter)
      lost.all += 1 + decl.aliases.size();
  return lost;
}

std::vector<std::string> findPossibleBuffers(const Model &model,
                                             const WeightTable &table) {
  std::vector<std::string> names;
  if (!model.signature.empty() || !model.isFromPyTorch())
    return names;
  for (const WeightDecl &decl : table.decls)
    if (decl.kind == WeightKind::Parameter && !isUsualName(table, decl.name))
      names.push_back(decl.name);
  return names;
}

std::map<std::string, int64_t> findPaddedTables(const Model &model,
                                                const WeightTable &table) {
  std::map<std::string, int64_t> rows;
  if (!model.signature.empty() || !model.isFromPyTorch())
    return rows;
  for (const auto &[place, use] : table.uses) {
    const WeightDecl &decl = table.decls[use.decl];
    if (decl.kind == WeightKind::Parameter && place.second == 0 &&
        decl.permutation.empty() && !rows.count(decl.name) &&
        model.graph().node(place.first).op_type() == "Gather")
      if (auto row = zeroRow(model.initializers[decl.initializer].source))
        rows[decl.name] = *row;
  }
  return rows;
}

std::vector<std::string> findGuessedNames(const Model &model,
                                          const WeightTable &table) {
  std::vector<std::string> names;
  if (!model.signature.empty() || !model.isFromPyTorch())
    return names;
  for (const WeightDecl &decl : table.decls)
    if (decl.kind == WeightKind::Parameter &&
        startsWith(model.initializers[decl.initializer].name, "onnx::") &&
        !table.certain.count(decl.name))
      names.push_back(decl.name);
  return names;
}

} // namespace pipec::onnx
