// The parts that both ways of naming weights share, and aliases: see
// Names.h.
//
// In: a Model, a table with names. Out: the table with the names under which
// other modules hold the same tensor. Tests:
// test/unit/frontends/WeightTableTest.cpp, ModelNamesTest.cpp.
#include "frontends/onnx/names/Names.h"

#include "frontends/common/Text.h"
#include "frontends/common/Ties.h"
#include "frontends/onnx/names/ModuleNodes.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace pipec::onnx {

std::vector<std::vector<Reader>> readersOf(const Model &model) {
  std::vector<std::vector<Reader>> readers(model.initializers.size());
  for (int n = 0; n < model.graph().node_size(); ++n) {
    if (model.aliasNode[n])
      continue;
    const auto &node = model.graph().node(n);
    for (int k = 0; k < node.input_size(); ++k) {
      auto found = model.initializerByName.find(node.input(k));
      if (found != model.initializerByName.end())
        readers[found->second].push_back({n, k});
    }
  }
  return readers;
}

bool isNumbered(const Model &model, int initializer) {
  return model.signature.empty() &&
         startsWith(model.initializers[initializer].name, "onnx::");
}

std::vector<std::string> stateSourcesOf(const Model &model,
                                        const std::string &value) {
  std::vector<std::string> sources;
  auto folded = model.folded.find(value);
  if (folded == model.folded.end())
    return sources;
  for (const std::string &name : folded->second)
    if (model.signature.contains(name))
      sources.push_back(name);
  return sources;
}

namespace {

/// Finds further state_dict names of declared parameters.
class AliasFinder {
public:
  AliasFinder(const Model &model, WeightTable &table)
      : model(model), table(table), modules(nodesByModule(model)) {
    std::set<std::string> read;
    for (const FxCall &call : model.calls)
      read.insert(call.references.begin(), call.references.end());
    for (const auto &[placeholder, entry] : model.signature.byPlaceholder)
      if (!read.count(placeholder))
        unread.insert(model.signature.entries[entry].target);
  }
  void run();

private:
  /// In the signature, without a tensor, and read by no fx node: torch.export
  /// puts one name of a tie in place of all.
  bool unclaimed(const std::string &name) const {
    return unread.count(name) && table.find(name) < 0;
  }
  bool isKindThatOwns(int node, int input, const WeightDecl &decl,
                      bool linear) const;
  void addReaderNames();
  void addUnreadNames();
  bool isBiasOfHead(int decl, const std::string &name) const;
  bool isUncalledTable(int decl, const std::string &name) const;
  void putFirstNameFirst(WeightDecl &decl) const;
  void collectFolded();
  void noteMerged();

  const Model &model;
  WeightTable &table;
  const std::map<std::string, ModuleNodes> modules;
  std::set<std::string> unread;                    // names of the signature
  std::map<int, std::set<std::string>> gatheredIn; // declaration -> modules
};

/// The nodes of the reader's module are those of a PyTorch module that has such
/// a tensor: a legacy file says no more. `linear`: it multiplies by a weight of
/// its own.
bool AliasFinder::isKindThatOwns(int node, int input, const WeightDecl &decl,
                                 bool linear) const {
  const std::string &op = model.graph().node(node).op_type();
  const ModuleNodes &module = modules.at(model.origins[node].module);
  const int64_t rank = decl.type.rank();
  static const std::set<std::string> kWhole{
      "BatchNormalization", "Conv",  "ConvTranspose",   "InstanceNormalization",
      "LayerNormalization", "PRelu", "RMSNormalization"};
  if (kWhole.count(op))
    return input > 0 && module.only(op.c_str());
  if (op == "Gather")
    return input == 0 && rank == 2;
  // Unfolded, nn.Linear transposes its weight itself, or lets Gemm do it.
  if (op == "Transpose" || (op == "Gemm" && input == 1))
    return rank == 2 && module.likeLinear();
  return (op == "Gemm" || op == "Add") && leafName(decl.name) == "bias" &&
         rank == 1 && (linear || module.likeLinear());
}

/// Module P reads a weight of another module Q: P holds it too, under the same
/// last name, unless P reads several that could be it. Where that is none of
/// torch.nn's, a legacy file does not say what P calls it: listed as lost.
void AliasFinder::addReaderNames() {
  std::set<std::string> linear; // modules with a weight of their own, stored
                                // transposed: nn.Linear
  for (const auto &[place, use] : table.uses)
    if (!table.decls[use.decl].permutation.empty())
      linear.insert(parentName(table.decls[use.decl].name));
  std::map<std::string, std::set<int>> readers; // name in P -> declarations
  for (const auto &[place, use] : table.uses) {
    const WeightDecl &decl = table.decls[use.decl];
    const std::string &module = model.origins[place.first].module;
    if (decl.kind == WeightKind::Constant || module.empty() ||
        startsWith(decl.name, module + "."))
      continue;
    std::string leaf = leafName(decl.name);
    const bool guessed = model.signature.empty() && leaf != "weight" &&
                         leaf != "bias" && !startsWith(leaf, "running_");
    if (guessed)
      leaf = decl.type.rank() > 1 ? "weight" : "bias";
    std::string name = module + "." + leaf;
    bool known = model.signature.empty()
                     ? isKindThatOwns(place.first, place.second, decl,
                                      linear.count(module) > 0) &&
                           table.find(name) < 0
                     : unclaimed(name);
    if (known && guessed)
      table.addFolded(name);
    else if (known)
      readers[name].insert(use.decl);
  }
  for (const auto &[name, decls] : readers)
    if (decls.size() == 1)
      table.decls[*decls.begin()].aliases.push_back(name);
}

/// The innermost module that holds all of `modules`, "" for the model.
std::string commonParent(const std::set<std::string> &modules) {
  std::string parent = parentName(*modules.begin());
  for (const std::string &module : modules)
    while (!parent.empty() && !startsWith(module, parent + "."))
      parent = parentName(parent);
  return parent;
}

/// Names that no call reads. An unused parameter looks alike, so only two kinds
/// count, and only where there is one that the name can be.
void AliasFinder::addUnreadNames() {
  for (const auto &[place, use] : table.uses)
    if (model.graph().node(place.first).op_type() == "Gather" &&
        place.second == 0)
      gatheredIn[use.decl].insert(model.origins[place.first].module);
  std::map<int, std::vector<std::string>> found;
  for (const auto &entry : model.signature.entries) {
    std::vector<int> candidates;
    for (size_t i = 0; i < table.decls.size() && unclaimed(entry.target); ++i)
      if (const int decl = static_cast<int>(i);
          table.decls[i].kind == WeightKind::Parameter &&
          leafName(table.decls[i].name) == leafName(entry.target) &&
          (isBiasOfHead(decl, entry.target) ||
           isUncalledTable(decl, entry.target)))
        candidates.push_back(decl);
    if (candidates.size() == 1)
      found[candidates[0]].push_back(entry.target);
  }
  for (const auto &[decl, names] : found)
    if (names.size() == 1)
      table.decls[decl].aliases.push_back(names[0]);
}

/// A prediction head that registered the bias of its decoder as its own too
/// (BERT and its kin): of a child whose weight is tied.
bool AliasFinder::isBiasOfHead(int decl, const std::string &name) const {
  const std::string child = parentName(table.decls[decl].name);
  const int weight = table.find(child + ".weight");
  return leafName(name) == "bias" && !parentName(name).empty() &&
         parentName(child) == parentName(name) && weight >= 0 &&
         (!table.decls[weight].aliases.empty() || gatheredIn.count(weight));
}

/// A table registered in a module that is never called, while several modules
/// that share it are (T5's `shared`): before those of all sharers, and directly
/// in the module that holds them all.
bool AliasFinder::isUncalledTable(int decl, const std::string &name) const {
  const auto sharers = gatheredIn.find(decl);
  const std::string module = parentName(name);
  if (sharers == gatheredIn.end() || sharers->second.size() < 2 ||
      leafName(name) != "weight" || module.empty() ||
      parentName(module) != commonParent(sharers->second) ||
      model.signature.contains(module + ".bias"))
    return false;
  auto isBefore = [&](const std::string &other) {
    return model.signature.byTarget.at(name) <
           model.signature.byTarget.at(other);
  };
  const auto &aliases = table.decls[decl].aliases;
  return isBefore(table.decls[decl].name) &&
         std::all_of(aliases.begin(), aliases.end(), isBefore) &&
         std::none_of(model.origins.begin(), model.origins.end(),
                      [&](const Origin &origin) {
                        return origin.module == module ||
                               startsWith(origin.module, module + ".");
                      });
}

void AliasFinder::putFirstNameFirst(WeightDecl &decl) const {
  if (model.signature.empty() || decl.aliases.empty())
    return;
  std::vector<std::string> all = decl.aliases;
  all.push_back(decl.name);
  std::sort(
      all.begin(), all.end(), [&](const std::string &a, const std::string &b) {
        return model.signature.byTarget.at(a) < model.signature.byTarget.at(b);
      });
  decl.name = all.front();
  decl.aliases.assign(all.begin() + 1, all.end());
}

/// Parameters first. What counts the batches of a BatchNorm is in no file that
/// serves inference, and nobody misses it.
void AliasFinder::collectFolded() {
  const std::vector<std::string> all = table.names();
  const std::set<std::string> known(all.begin(), all.end());
  auto collect = [&](GraphSignature::Kind kind, const char *suffix) {
    for (const auto &entry : model.signature.entries)
      if (entry.kind == kind && !known.count(entry.target) &&
          leafName(entry.target) != "num_batches_tracked")
        table.folded.push_back(entry.target + suffix);
  };
  collect(GraphSignature::Kind::Parameter, "");
  collect(GraphSignature::Kind::Buffer, " (buffer)");
}

void AliasFinder::run() {
  addReaderNames();
  addUnreadNames();
  for (WeightDecl &decl : table.decls)
    putFirstNameFirst(decl);
  collectFolded();
  noteMerged();
}

/// The layer's number does not count: "layers.#.bias".
static std::string withoutIndices(const std::string &name) {
  std::string text;
  for (char c : name)
    if (!std::isdigit(static_cast<unsigned char>(c)))
      text += c;
    else if (text.empty() || text.back() != '#')
      text += '#';
  return text;
}

/// Layers that are copies of one are equal until they are trained. The
/// exporter's optimizer makes equal tensors one, and then equal nodes that read
/// them: of which the file keeps nothing but that a name is gone.
void AliasFinder::noteMerged() {
  constexpr int64_t kMostMerged = 1024;
  std::set<std::string> recorded;
  for (const auto &[value, sources] : model.folded)
    recorded.insert(sources.begin(), sources.end());
  std::map<std::string, std::string> kept; // without indices -> its name
  std::vector<std::string> plain;          // zeros, ones
  for (const WeightDecl &decl : table.decls)
    if (decl.kind == WeightKind::Parameter &&
        decl.type.numElements() <= kMostMerged) {
      kept.emplace(withoutIndices(decl.name), decl.name);
      if (!isDistinctive(model.initializers[decl.initializer].source))
        plain.push_back(decl.name);
    }
  std::map<std::string, std::string> merged; // the kept ones -> those gone
  for (const std::string &name : table.folded) {
    if (recorded.count(name) || !model.signature.contains(name))
      continue;
    auto one = kept.find(withoutIndices(name));
    const std::string by = one != kept.end() ? one->second : joined(plain);
    if (!by.empty())
      merged[by] += (merged[by].empty() ? "" : ", ") + name;
  }
  for (const auto &[one, gone] : merged)
    table.trainingWarnings.push_back(
        "the exporter may have made " + gone + " one with " + one +
        ", if they were equal: what is left then gets all their gradients in "
        "training; export with optimize=False");
}

} // namespace

void findAliases(const Model &model, WeightTable &table) {
  AliasFinder(model, table).run();
}

/// What ties ask of an ONNX graph.
static TieFacts tieFactsOf(const Model &model) {
  auto readingOf = [&](Reader reader) {
    const std::string &op = model.graph().node(reader.node).op_type();
    if (op == "Gather" && reader.input == 0)
      return TieFacts::Reading::Table;
    return op == "MatMul" || (op == "Gemm" && reader.input < 2)
               ? TieFacts::Reading::Matrix
               : TieFacts::Reading::Other;
  };
  return {model.path, model.initializers, readingOf,
          [&](int node) -> const std::string & {
            return model.origins[node].module;
          },
          [&](int initializer) { return isNumbered(model, initializer); }};
}

StatusOr<WeightTable> makeWeightTable(const Model &model,
                                      const ImportOptions &options) {
  WeightTable table = model.signature.empty()
                          ? namesByText(model, options)
                          : namesBySignature(model, options);
  findAliases(model, table);
  if (!options.names.empty())
    PIPEC_RETURN_IF_ERROR(nameByState(model, options, table));
  PIPEC_RETURN_IF_ERROR(resolveTies(tieFactsOf(model), options, table));
  return table;
}

} // namespace pipec::onnx
