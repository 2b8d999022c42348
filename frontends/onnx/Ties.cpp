// Tied weights: tables stored twice, and the user's --tie and --untie. See
// WeightTable.h.
//
// In: a table with names and aliases. Out: one declaration for each tied
// weight. Bytes are compared (MatrixCompare.h) only where a table that Gather
// reads has the shape of a matrix that MatMul or Gemm reads. Tests:
// test/unit/frontends/WeightTableTest.cpp.
#include "frontends/onnx/WeightTable.h"

#include "frontends/onnx/MatrixCompare.h"
#include "frontends/onnx/Text.h"

#include <algorithm>
#include <cstdio>

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
  void findNamelessCopies(const std::set<int> &tables);
  bool sameBytes(const WeightDecl &first, const WeightDecl &second) const;
  bool differ(const WeightDecl &first, const WeightDecl &second) const;
  void announce(const WeightDecl &first, const WeightDecl &second) const;
  Status untie(const std::string &name);
  Status tie(const std::string &first, const std::string &second);
  bool addLostName(const std::string &lost, const std::string &kept);
  void merge(int first, int second);
  void mergeNameless(int first, int second);
  StatusOr<int> lookUp(const std::string &name, const char *option) const;
  bool keptApart(const WeightDecl &decl) const {
    return std::find(options.unties.begin(), options.unties.end(), decl.name) !=
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
  const TensorSource &a = model.initializers[first.initializer].source;
  const TensorSource &b = model.initializers[second.initializer].source;
  bool transposed = first.permutation != second.permutation;
  return sameMatrix(a, b, transposed, [&] { announce(first, second); });
}

/// Comparing so much takes seconds: it is said before.
void TieResolver::announce(const WeightDecl &first,
                           const WeightDecl &second) const {
  constexpr size_t kLongBytes = size_t(1) << 30;
  const size_t bytes = 2 * first.type.byteSize();
  if (bytes < kLongBytes || !options.progress)
    return;
  char size[32];
  std::snprintf(size, sizeof size, "%.1f GB", static_cast<double>(bytes) / 1e9);
  options.progress("comparing " + first.name + " and " + second.name + ", " +
                   size + ", to see whether they are tied");
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
      const TensorSource &x = model.initializers[a.initializer].source,
                         &y = model.initializers[b.initializer].source;
      if (x.inFile() && y.inFile() && x.file == y.file && x.offset == y.offset)
        continue;
      if (!sameBytes(a, b))
        continue;
      if (keptApart(a) || keptApart(b)) {
        separated.insert(keptApart(a) ? a.name : b.name);
        continue;
      }
      table.notices.push_back(b.name + " is the same data as " + a.name +
                              ": tied; --untie " + b.name +
                              " keeps them apart");
      merge(first, second);
    }
  findNamelessCopies(tables);
}

/// A matrix under an exporter's name that is a table's transpose: the model
/// multiplied by the table itself.
void TieResolver::findNamelessCopies(const std::set<int> &tables) {
  std::set<int> factors;
  for (const auto &[place, use] : table.uses)
    if (model.graph().node(place.first).op_type() == "MatMul" &&
        place.second == 1)
      factors.insert(use.decl);
  for (int second : factors) {
    const WeightDecl &b = table.decls[second];
    if (b.kind != WeightKind::Constant || b.type.rank() != 2)
      continue;
    for (int first : tables) {
      const WeightDecl &a = table.decls[first];
      if (a.type.dtype != b.type.dtype || !a.permutation.empty() ||
          a.type.shape[0] != b.type.shape[1] ||
          a.type.shape[1] != b.type.shape[0] ||
          !sameMatrix(model.initializers[a.initializer].source,
                      model.initializers[b.initializer].source, true,
                      [&] { announce(a, b); }))
        continue;
      if (keptApart(a) || keptApart(b)) {
        separated.insert(keptApart(a) ? a.name : b.name);
        continue;
      }
      table.notices.push_back(b.name + " is the same data as " + a.name +
                              ": tied; --untie " + b.name +
                              " keeps them apart");
      mergeNameless(first, second);
      break;
    }
  }
}

/// All that read the constant `second` read `first`, transposed.
void TieResolver::mergeNameless(int first, int second) {
  auto redirect = [&](WeightUse &use) {
    if (use.decl == second)
      use = {first, {1, 0}};
  };
  for (auto &[place, use] : table.uses)
    redirect(use);
  for (auto &[initializer, use] : table.defaults)
    redirect(use);
  auto &folded = table.folded;
  folded.erase(
      std::remove(folded.begin(), folded.end(), table.decls[second].name),
      folded.end());
  table.decls[second].name.clear();
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

/// Whether the file has other values for `second`; false where it cannot be
/// read: the import says so.
bool TieResolver::differ(const WeightDecl &first,
                         const WeightDecl &second) const {
  if (first.initializer == second.initializer)
    return false;
  if (first.type.rank() == 2)
    return !sameBytes(first, second);
  if (first.permutation != second.permutation)
    return true;
  auto a = model.initializers[first.initializer].source.load();
  auto b = model.initializers[second.initializer].source.load();
  return a.ok() && b.ok() &&
         std::memcmp(a->data(), b->data(), first.type.byteSize()) != 0;
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
  if (differ(table.decls[a], table.decls[b]))
    table.notices.push_back("warning: --tie " + first + "=" + second +
                            ": their values in the file differ; those of " +
                            first + " are used for both");
  merge(a, b);
  return Status();
}

Status TieResolver::run() {
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
