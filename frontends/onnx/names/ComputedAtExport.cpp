// What an exporter took away from training, as far as the file shows it:
// tensors computed at export from parameters, buffers that look like
// parameters, tables with padding_idx, and parameters without their names.
//
// An optimizer that computes exp(t) once leaves an initializer in its place.
// Exporters of today record what went into it (Model::folded). In files of
// older ones whatever stands for a value that nothing makes is suspected, and
// that is all that they say (WeightTable::refuted). In: Model, WeightTable.
// Out: names. Tests: test/unit/frontends/ComputedAtExportTest.cpp.
#include "frontends/common/Text.h"
#include "frontends/onnx/names/Names.h"

#include <algorithm>

namespace pipec::onnx {
namespace {

/// "full_3" of "full".
bool isNumbered(const std::string &name, const char *base) {
  return startsWith(name, base) &&
         name.find_first_not_of("_0123456789", std::string(base).size()) ==
             std::string::npos;
}

/// Parameters among what went into a value, by the exporter's own record.
std::vector<std::string> parametersIn(const Model &model,
                                      const std::string &value) {
  std::vector<std::string> parameters;
  for (const std::string &name : stateSourcesOf(model, value))
    if (model.signature.entries[model.signature.byTarget.at(name)].kind ==
        GraphSignature::Kind::Parameter)
      parameters.push_back(name);
  return parameters;
}

/// Names that torch.nn, or habit, gives to parameters and not to buffers, as
/// they are: a name with one of them in it (e_score_correction_bias,
/// ema_weight) may be either.
bool isUsualName(const WeightTable &table, const std::string &name) {
  std::string leaf = leafName(name);
  if (leaf == "weight_v") // spectral_norm has a buffer of that name
    return table.find(parentName(name) + ".weight_g") >= 0;
  // Of nn.ParameterList, torch.nn.utils.parametrize, layers of nn.LSTM.
  leaf.erase(leaf.find_last_not_of("0123456789") + 1);
  static const std::set<std::string> kNames{
      "",           "bias",         "bias_k",         "bias_v",
      "gamma",      "in_proj_bias", "in_proj_weight", "lora_A",
      "lora_B",     "original",     "weight",         "weight_g",
      "weight_orig"};
  const char *const starts[] = {"weight_ih", "weight_hh", "weight_hr",
                                "bias_ih", "bias_hh"};
  const char *const ends[] = {"_proj", "_proj_weight", "_proj_bias", "_token"};
  return kNames.count(leaf) ||
         std::any_of(
             std::begin(starts), std::end(starts),
             [&](const char *start) { return startsWith(leaf, start); }) ||
         std::any_of(std::begin(ends), std::end(ends),
                     [&](const char *end) { return endsWith(leaf, end); });
}

} // namespace

bool isMadeOfNumbers(const std::string &name) {
  constexpr const char *kMakers[] = {
      "arange",    "eye",           "full",
      "full_like", "linspace",      "new_full",
      "new_ones",  "new_zeros",     "ones",
      "ones_like", "scalar_tensor", "lift_fresh_copy",
      "zeros",     "zeros_like",    "scalar_tensor_default"};
  return std::any_of(
      std::begin(kMakers), std::end(kMakers),
      [&](const char *maker) { return isNumbered(name, maker); });
}

std::vector<ComputedTensor> findComputed(const Model &model,
                                         const WeightTable &table) {
  std::vector<ComputedTensor> computed;
  std::set<int> found; // declarations
  for (const auto &[place, use] : table.uses) {
    const WeightDecl &decl = table.decls[use.decl];
    if (decl.kind != WeightKind::Constant || !isFloat(decl.type.dtype) ||
        isMadeOfNumbers(decl.name) || found.count(use.decl))
      continue;
    std::vector<std::string> parameters = parametersIn(model, decl.name);
    const bool certain = !parameters.empty();
    auto refuted = table.refuted.find(decl.initializer);
    if (!certain && refuted == table.refuted.end())
      continue;
    if (!certain && !refuted->second.empty())
      parameters.push_back(refuted->second);
    std::string where = model.where(place.first);
    if (startsWith(where, model.path + ": "))
      where = where.substr(model.path.size() + 2);
    found.insert(use.decl);
    computed.push_back({decl.name, where, std::move(parameters), certain});
  }
  return computed;
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
  const bool nameless = std::any_of(
      table.decls.begin(), table.decls.end(), [&](const WeightDecl &decl) {
        return decl.kind == WeightKind::Constant &&
               isNumbered(model, decl.initializer) && isFloat(decl.type.dtype);
      });
  // What was made of a parameter of a state_dict counts by that.
  const bool byState = !table.certain.empty();
  for (const std::string &name : table.folded)
    if (!endsWith(name, "(buffer)") &&
        !(byState && startsWith(name, "onnx::")) &&
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
        isNumbered(model, decl.initializer) && !table.certain.count(decl.name))
      names.push_back(decl.name);
  return names;
}

} // namespace pipec::onnx
