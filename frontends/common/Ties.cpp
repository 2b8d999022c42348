// Tied weights: tables stored twice, and the user's --tie and --untie. See
// Ties.h.
//
// In: a table with names and aliases. Out: one declaration for each tied
// weight. Bytes are compared (TensorCompare.h) only where a table that
// rows are looked up in may be a matrix that something is multiplied by, and
// where a name is a guess. Tests: test/unit/frontends/WeightTableTest.cpp,
// LegacyNamesTest.cpp.
#include "frontends/common/Ties.h"

#include "frontends/common/Text.h"
#include "frontends/common/WeightTableBuilder.h"

#include <algorithm>

namespace pipec::frontend {
namespace {

class TieResolver {
public:
  TieResolver(const TieFacts &facts, const ImportOptions &options,
              WeightTable &table)
      : facts(facts), options(options), table(table) {}
  Status run();

private:
  void findEqual();
  void compare(int first, int second);
  bool tieStoredTwice(int first, int second);
  void warnOfEqual();
  bool sameBytes(const WeightDecl &first, const WeightDecl &second) const;
  Status untie(const std::string &name);
  Status tie(const std::string &first, const std::string &second);
  bool addLostName(const std::string &lost, const std::string &kept);
  void merge(int first, int second);
  StatusOr<int> lookUp(const std::string &name, const char *option) const;
  const TieFacts &facts;
  const ImportOptions &options;
  WeightTable &table;
  std::set<int> gathered, multiplied;    // declarations
  std::map<int, std::vector<int>> equal; // by the first one
};

/// Compares in declared orientation: `second` is another initializer of the
/// same declared type.
bool TieResolver::sameBytes(const WeightDecl &first,
                            const WeightDecl &second) const {
  return isDeclared(
      facts.tensors, first, {0, inversePermutation(second.permutation)},
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

/// Matrices that may have the same bytes.
void TieResolver::findEqual() {
  for (const auto &[place, use] : table.uses) {
    const auto reading = facts.readingOf({place.first, place.second});
    if (reading == TieFacts::Reading::Table)
      gathered.insert(use.decl);
    else if (reading == TieFacts::Reading::Matrix)
      multiplied.insert(use.decl);
  }
  std::map<Fingerprint, std::vector<int>> alike;
  for (size_t i = 0; i < table.decls.size(); ++i) {
    const WeightDecl &decl = table.decls[i];
    if (decl.kind == WeightKind::Parameter && decl.type.rank() > 1)
      if (auto key = fingerprint(facts.tensors[decl.initializer].source))
        alike[*key].push_back(static_cast<int>(i));
  }
  for (const auto &[key, decls] : alike)
    for (size_t i = 0; i < decls.size(); ++i)
      for (size_t j = i + 1; j < decls.size(); ++j)
        compare(decls[i], decls[j]);
}

void TieResolver::compare(int first, int second) {
  const WeightDecl &a = table.decls[first], &b = table.decls[second];
  if (a.name.empty() || b.name.empty() || tieStoredTwice(first, second) ||
      tieStoredTwice(second, first) ||
      !(facts.isNumbered(a.initializer) || facts.isNumbered(b.initializer)))
    return;
  const TensorSource &source = facts.tensors[a.initializer].source;
  if (isDistinctive(source) &&
      !permutationsTo({source, source.type.shape},
                      facts.tensors[b.initializer].source,
                      announcing(options.progress, a.name, b.name, source.type))
           .empty())
    equal[first].push_back(second);
}

/// A table that is a matrix too. Sources made for merged parameters share their
/// bytes and are no tie.
bool TieResolver::tieStoredTwice(int first, int second) {
  const WeightDecl &a = table.decls[first], &b = table.decls[second];
  if (!gathered.count(first) || gathered.count(second) ||
      !multiplied.count(second) || a.type != b.type || a.type.rank() != 2 ||
      samePlace(facts.tensors[a.initializer].source,
                facts.tensors[b.initializer].source) ||
      !sameBytes(a, b))
    return false;
  for (const std::string &name : {a.name, b.name})
    if (isApart(options, name)) {
      table.apart.insert(name);
      return true;
    }
  table.notices.push_back(b.name + " is the same data as " + a.name +
                          ": tied; --untie " + b.name + " keeps them apart");
  merge(first, second);
  return true;
}

/// Where a name is the guess from the module that reads the matrix, a tied
/// parameter and a copied layer look alike.
void TieResolver::warnOfEqual() {
  std::set<int> said;
  for (const auto &[first, others] : equal) {
    std::vector<std::string> names{table.decls[first].name};
    for (int other : others)
      if (said.insert(other).second && !table.decls[other].name.empty())
        names.push_back(table.decls[other].name);
    if (names.size() > 1 && !names[0].empty())
      table.trainingWarnings.push_back(
          "the same data is under several names (" + joined(names) +
          "), and the file does not say whether they are one parameter: each "
          "is trained by itself; --tie " +
          names[0] + "=" + names[1] + " makes them one");
  }
}

StatusOr<int> TieResolver::lookUp(const std::string &name,
                                  const char *option) const {
  int decl = table.find(name);
  if (decl < 0 || name.empty() ||
      table.decls[decl].kind == WeightKind::Constant)
    return invalidArgument(facts.path + ": " + option +
                           ": there is no parameter '" + name + "'" +
                           didYouMean(name, table.names()));
  return decl;
}

Status TieResolver::untie(const std::string &name) {
  if (int apart = table.find(name); apart >= 0 && table.apart.count(name) &&
                                    table.decls[apart].aliases.empty())
    return Status();
  PIPEC_ASSIGN_OR_RETURN(int index, lookUp(name, "--untie"));
  WeightDecl &decl = table.decls[index];
  if (decl.aliases.empty())
    return invalidArgument(facts.path + ": --untie: '" + name +
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
    if (use.decl == index && facts.moduleOf(place.first) == parentName(name))
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
    return invalidArgument(facts.path + ": --tie: '" + first + "' is " +
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
  findEqual();
  for (const std::string &name : options.unties)
    PIPEC_RETURN_IF_ERROR(untie(name));
  for (const auto &[first, second] : options.ties)
    PIPEC_RETURN_IF_ERROR(tie(first, second));
  warnOfEqual();
  std::vector<int> kept;
  for (size_t i = 0; i < table.decls.size(); ++i)
    if (!table.decls[i].name.empty())
      kept.push_back(static_cast<int>(i));
  table.reorder(kept);
  return Status();
}

} // namespace

Status resolveTies(const TieFacts &facts, const ImportOptions &options,
                   WeightTable &table) {
  return TieResolver(facts, options, table).run();
}

} // namespace pipec::frontend
