// Tied weights: tables stored twice, and the user's --tie and --untie. See
// WeightTable.h.
//
// In: a table with names and aliases. Out: one declaration for each tied
// weight. Bytes are compared (TensorCompare.h) only where a table that Gather
// reads has the shape of a matrix that MatMul or Gemm reads. Tests:
// test/unit/frontends/WeightTableTest.cpp.
#include "frontends/onnx/WeightTableBuilder.h"

#include "frontends/onnx/Text.h"

#include <algorithm>

namespace pipec::onnx {
namespace {

class TieResolver {
public:
  TieResolver(const Model &model, const ImportOptions &options,
              WeightTable &table)
      : model(model), options(options), table(table) {}
  Status run();

private:
  void findStoredTwice();
  void resolveCopies();
  bool sameBytes(const WeightDecl &first, const WeightDecl &second) const;
  Status untie(const std::string &name);
  Status tie(const std::string &first, const std::string &second);
  bool addLostName(const std::string &lost, const std::string &kept);
  void merge(int first, int second);
  StatusOr<int> lookUp(const std::string &name, const char *option) const;
  bool isApart(const std::string &name) const {
    return std::find(options.unties.begin(), options.unties.end(), name) !=
           options.unties.end();
  }

  const Model &model;
  const ImportOptions &options;
  WeightTable &table;
  std::set<std::string> separated; // names of --untie that kept something apart
};

/// Compares in declared orientation: `second` is another initializer of the
/// same declared type.
bool TieResolver::sameBytes(const WeightDecl &first,
                            const WeightDecl &second) const {
  return isDeclared(
      model, first, {0, inversePermutation(second.permutation)},
      second.initializer,
      announcing(options.progress, first.name, second.name, first.type));
}

/// All that meant `second` means `first`; its names become aliases. The emptied
/// declaration goes in run().
void TieResolver::merge(int first, int second) {
  WeightDecl &kept = table.decls[first], &gone = table.decls[second];
  kept.aliases.push_back(gone.name);
  kept.aliases.insert(kept.aliases.end(), gone.aliases.begin(),
                      gone.aliases.end());
  for (auto &[place, use] : table.uses)
    if (use.decl == second)
      use.decl = first;
  for (auto &[initializer, use] : table.defaults)
    if (use.decl == second)
      use.decl = first;
  gone.name.clear();
  gone.aliases.clear();
}

void TieResolver::findStoredTwice() {
  std::set<int> tables, matrices;
  for (const auto &[place, use] : table.uses) {
    const WeightDecl &decl = table.decls[use.decl];
    const std::string &op = model.graph().node(place.first).op_type();
    if (decl.kind != WeightKind::Parameter || decl.type.rank() != 2)
      continue;
    if (op == "Gather" && place.second == 0)
      tables.insert(use.decl);
    else if (op == "MatMul" || (op == "Gemm" && place.second < 2))
      matrices.insert(use.decl);
  }
  for (int first : tables)
    for (int second : matrices) {
      const WeightDecl &a = table.decls[first];
      const WeightDecl &b = table.decls[second];
      if (a.initializer == b.initializer || a.type != b.type ||
          a.name.empty() || b.name.empty() || tables.count(second))
        continue;
      // Sources made for merged parameters share their bytes and are no tie.
      if (samePlace(model.initializers[a.initializer].source,
                    model.initializers[b.initializer].source))
        continue;
      if (!sameBytes(a, b))
        continue;
      if (isApart(a.name) || isApart(b.name)) {
        separated.insert(isApart(a.name) ? a.name : b.name);
        continue;
      }
      table.notices.push_back(b.name + " is the same data as " + a.name +
                              ": tied; --untie " + b.name +
                              " keeps them apart");
      merge(first, second);
    }
}

/// Takes copies apart that the user wants apart; what else the nodes read as
/// copies is said by the import.
void TieResolver::resolveCopies() {
  auto &folded = table.folded;
  for (auto entry = table.copies.begin(); entry != table.copies.end();) {
    const auto [initializer, name] = *entry;
    const std::string &copy = model.initializers[initializer].name;
    if (!isApart(copy) && !isApart(name)) {
      folded.erase(std::remove(folded.begin(), folded.end(), copy),
                   folded.end());
      ++entry;
      continue;
    }
    separated.insert(isApart(copy) ? copy : name);
    WeightDecl apart;
    apart.name = copy;
    apart.initializer = initializer;
    apart.type = model.initializers[initializer].source.type;
    const WeightUse use{static_cast<int>(table.decls.size()), {}};
    table.defaults[initializer] = use;
    for (auto &[place, other] : table.uses)
      if (model.graph().node(place.first).input(place.second) == copy)
        other = use;
    table.decls.push_back(std::move(apart));
    table.addFolded(copy);
    entry = table.copies.erase(entry);
  }
}

StatusOr<int> TieResolver::lookUp(const std::string &name,
                                  const char *option) const {
  int decl = table.find(name);
  if (decl < 0 || name.empty() ||
      table.decls[decl].kind == WeightKind::Constant)
    return invalidArgument(model.path + ": " + option +
                           ": there is no parameter '" + name + "'" +
                           didYouMean(name, table.names()));
  return decl;
}

Status TieResolver::untie(const std::string &name) {
  if (int apart = table.find(name);
      apart >= 0 && separated.count(name) && table.decls[apart].aliases.empty())
    return Status();
  PIPEC_ASSIGN_OR_RETURN(int index, lookUp(name, "--untie"));
  WeightDecl &decl = table.decls[index];
  if (decl.aliases.empty())
    return invalidArgument(model.path + ": --untie: '" + name +
                           "' is tied to nothing");
  WeightDecl apart = decl;
  apart.name = name;
  apart.aliases.clear();
  if (decl.name == name) {
    decl.name = decl.aliases.front();
    decl.aliases.erase(decl.aliases.begin());
  } else {
    decl.aliases.erase(
        std::find(decl.aliases.begin(), decl.aliases.end(), name));
  }
  int made = static_cast<int>(table.decls.size());
  for (auto &[place, use] : table.uses)
    if (use.decl == index &&
        model.origins[place.first].module == parentName(name))
      use.decl = made;
  table.decls.push_back(std::move(apart));
  return Status();
}

/// A parameter that the signature lists and no tensor of the file is: the
/// exporter puts one name of several, and which names were one it does not say.
bool TieResolver::addLostName(const std::string &lost,
                              const std::string &kept) {
  auto at = std::find(table.folded.begin(), table.folded.end(), lost);
  int decl = table.find(kept);
  if (at == table.folded.end() || decl < 0 || table.find(lost) >= 0 ||
      table.decls[decl].kind != WeightKind::Parameter)
    return false;
  table.folded.erase(at);
  table.decls[decl].aliases.push_back(lost);
  return true;
}

Status TieResolver::tie(const std::string &first, const std::string &second) {
  if (addLostName(first, second) || addLostName(second, first))
    return Status();
  PIPEC_ASSIGN_OR_RETURN(int a, lookUp(first, "--tie"));
  PIPEC_ASSIGN_OR_RETURN(int b, lookUp(second, "--tie"));
  if (a == b)
    return Status();
  if (table.decls[a].type != table.decls[b].type)
    return invalidArgument(model.path + ": --tie: '" + first + "' is " +
                           table.decls[a].type.str() + ", '" + second +
                           "' is " + table.decls[b].type.str() +
                           "; only parameters of one type can be tied");
  if (!sameBytes(table.decls[a], table.decls[b]))
    table.notices.push_back("warning: --tie " + first + "=" + second +
                            ": their values in the file differ; those of " +
                            first + " are used for both");
  merge(a, b);
  return Status();
}

Status TieResolver::run() {
  resolveCopies();
  findStoredTwice();
  for (const std::string &name : options.unties)
    PIPEC_RETURN_IF_ERROR(untie(name));
  for (const auto &[first, second] : options.ties)
    PIPEC_RETURN_IF_ERROR(tie(first, second));
  std::vector<int> renumbered(table.decls.size(), -1);
  std::vector<WeightDecl> kept;
  for (size_t i = 0; i < table.decls.size(); ++i) {
    if (table.decls[i].name.empty())
      continue;
    renumbered[i] = static_cast<int>(kept.size());
    kept.push_back(std::move(table.decls[i]));
  }
  table.decls = std::move(kept);
  for (auto &[place, use] : table.uses)
    use.decl = renumbered[use.decl];
  for (auto &[initializer, use] : table.defaults)
    use.decl = renumbered[use.decl];
  return Status();
}

} // namespace

Status resolveTies(const Model &model, const ImportOptions &options,
                   WeightTable &table) {
  return TieResolver(model, options, table).run();
}

} // namespace pipec::onnx
