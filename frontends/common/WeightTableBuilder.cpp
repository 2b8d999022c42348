// See WeightTableBuilder.h.
#include "frontends/common/WeightTableBuilder.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace pipec::frontend {
namespace {

/// Sizes of the declared weight as its bytes lie.
std::vector<int64_t> storedShape(const WeightDecl &decl) {
  std::vector<int64_t> shape = decl.type.shape;
  for (size_t k = 0; k < decl.permutation.size(); ++k)
    shape[decl.permutation[k]] = decl.type.shape[k];
  return shape;
}

/// From the stored form to the one that a reader has.
Permutation fromStored(const WeightDecl &decl, const WeightUse &use) {
  if (use.permutation.empty())
    return decl.permutation;
  if (decl.permutation.empty())
    return use.permutation;
  Permutation whole;
  for (int64_t axis : use.permutation)
    whole.push_back(decl.permutation[axis]);
  return whole;
}

} // namespace

Claim Claim::moved(const Permutation &moved) const {
  Claim made = *this;
  if (std::is_sorted(moved.begin(), moved.end()))
    return made;
  made.declared = inversePermutation(moved);
  for (size_t k = 0; k < moved.size(); ++k)
    made.type.shape[moved[k]] = type.shape[k];
  return made;
}

Claim claimOf(const NamedTensors &tensors, int initializer,
              const std::string &name, WeightKind kind) {
  const TensorType &type = tensors[initializer].source.type;
  return {name, kind, initializer, type, {}, std::nullopt};
}

bool isDeclared(const NamedTensors &tensors, const WeightDecl &decl,
                const WeightUse &use, int initializer,
                const std::function<void()> &before) {
  return samePermuted({tensors[decl.initializer].source, storedShape(decl)},
                      fromStored(decl, use), tensors[initializer].source,
                      before);
}

std::function<void()> announcing(const Notice &progress,
                                 const std::string &first,
                                 const std::string &second,
                                 const TensorType &type) {
  constexpr size_t kLongBytes = size_t(1) << 30;
  const size_t bytes = 2 * type.byteSize();
  if (bytes < kLongBytes || !progress)
    return {};
  return [&progress, first, second, bytes] {
    char size[32];
    std::snprintf(size, sizeof size, "%.1f GB",
                  static_cast<double>(bytes) / 1e9);
    progress("comparing " + first + " and " + second + ", " + size +
             ", to see whether they are one tensor");
  };
}

/// The declaration of the claim, made or found; nothing where its name is
/// another tensor's.
std::optional<WeightUse> WeightTableBuilder::declared(int initializer,
                                                      const Claim &claim) {
  WeightUse use;
  use.permutation = claim.use ? *claim.use : inversePermutation(claim.declared);
  auto known = byName.find(claim.name);
  if (known == byName.end()) {
    use.decl = static_cast<int>(table.decls.size());
    byName[claim.name] = use.decl;
    const NamedTensor &owner = tensors[claim.owner];
    if (claim.kind == WeightKind::Parameter && owner.name == claim.name)
      if (auto key = fingerprint(owner.source))
        kept.emplace(*key, claim.owner);
    table.decls.push_back(
        {claim.name, {}, claim.kind, claim.owner, claim.type, claim.declared});
    return use;
  }
  use.decl = known->second;
  const WeightDecl &other = table.decls[use.decl];
  if (other.type != claim.type ||
      !isDeclared(tensors, other, use, initializer,
                  announcing(options.progress, claim.name,
                             tensors[initializer].name, claim.type)))
    return std::nullopt;
  return use;
}

WeightUse WeightTableBuilder::use(int initializer,
                                  const std::optional<Claim> &claim) {
  if (claim) {
    if (auto use = declared(initializer, *claim))
      return *use;
    table.refuted[initializer] = claim->name;
  }
  auto [entry, isNew] =
      constants.emplace(initializer, static_cast<int>(table.decls.size()));
  if (isNew) {
    const auto &[name, source] = tensors[initializer];
    table.decls.push_back(
        {name, {}, WeightKind::Constant, initializer, source.type, {}});
  }
  return {entry->second, {}};
}

void WeightTableBuilder::read(int initializer, Reader reader,
                              const std::optional<Claim> &claim) {
  WeightUse found = use(initializer, claim);
  table.defaults.emplace(initializer, found);
  table.uses[{reader.node, reader.input}] = std::move(found);
}

void WeightTableBuilder::keep(int initializer,
                              const std::optional<Claim> &claim) {
  table.defaults.emplace(initializer, use(initializer, claim));
}

WeightTable WeightTableBuilder::take() {
  std::vector<int> order(table.decls.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return table.decls[a].initializer < table.decls[b].initializer;
  });
  table.reorder(order);
  return std::move(table);
}

std::optional<Claim> WeightTableBuilder::claimCopy(int initializer,
                                                   const std::string &name,
                                                   int owner) {
  const TensorSource &source = tensors[owner].source;
  std::vector<Permutation> moves =
      permutationsTo({source, source.type.shape}, tensors[initializer].source,
                     announcing(options.progress, name,
                                tensors[initializer].name, source.type));
  if (moves.size() != 1)
    return std::nullopt;
  for (const std::string &apart : {tensors[initializer].name, name})
    if (isApart(options, apart)) {
      table.apart.insert(apart);
      return std::nullopt;
    }
  Claim claim = claimOf(tensors, owner, name);
  claim.use = moves[0];
  auto known = byName.find(name);
  if (known != byName.end())
    claim.kind = table.decls[known->second].kind;
  table.copies[initializer] = name;
  return claim;
}

std::optional<Claim> WeightTableBuilder::claimCopyOfAny(int initializer) {
  const TensorSource &source = tensors[initializer].source;
  if (source.type.rank() < 1 || !isDistinctive(source))
    return std::nullopt;
  std::optional<Claim> found;
  auto [from, to] = kept.equal_range(*fingerprint(source));
  for (auto one = from; one != to; ++one) {
    auto copy = claimCopy(initializer, tensors[one->second].name, one->second);
    if (copy && found) {
      table.copies.erase(initializer);
      return std::nullopt;
    }
    if (copy)
      found = std::move(copy);
  }
  return found;
}

} // namespace pipec::frontend
