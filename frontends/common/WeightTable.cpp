// The table of a model's weights: see WeightTable.h.
//
// In: declarations. Out: answers, and the same in another order. Tests:
// test/unit/frontends/WeightTableTest.cpp.
#include "frontends/common/WeightTable.h"

#include <algorithm>

namespace pipec::frontend {

std::vector<std::string> WeightTable::names() const {
  std::vector<std::string> all;
  for (const WeightDecl &decl : decls) {
    if (decl.kind == WeightKind::Constant)
      continue;
    all.push_back(decl.name);
    all.insert(all.end(), decl.aliases.begin(), decl.aliases.end());
  }
  return all;
}

void WeightTable::addFolded(const std::string &name) {
  if (std::find(folded.begin(), folded.end(), name) == folded.end())
    folded.push_back(name);
}

int WeightTable::find(const std::string &name) const {
  int constant = -1;
  for (size_t i = 0; i < decls.size(); ++i) {
    const WeightDecl &decl = decls[i];
    if (decl.name != name && std::find(decl.aliases.begin(), decl.aliases.end(),
                                       name) == decl.aliases.end())
      continue;
    if (decl.kind != WeightKind::Constant)
      return static_cast<int>(i);
    if (constant < 0)
      constant = static_cast<int>(i);
  }
  return constant;
}

void WeightTable::reorder(const std::vector<int> &order) {
  std::vector<int> places(decls.size(), -1);
  std::vector<WeightDecl> kept;
  for (int decl : order) {
    places[decl] = static_cast<int>(kept.size());
    kept.push_back(std::move(decls[decl]));
  }
  decls = std::move(kept);
  for (auto &[reader, use] : uses)
    use.decl = places[use.decl];
  for (auto &[initializer, use] : defaults)
    use.decl = places[use.decl];
}

bool isApart(const ImportOptions &options, const std::string &name) {
  return std::find(options.unties.begin(), options.unties.end(), name) !=
         options.unties.end();
}

Permutation inversePermutation(const Permutation &permutation) {
  Permutation inverse(permutation.size());
  for (size_t k = 0; k < permutation.size(); ++k)
    inverse[permutation[k]] = static_cast<int64_t>(k);
  return inverse;
}

} // namespace pipec::frontend
