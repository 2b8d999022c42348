// See WeightTableBuilder.h.
#include "frontends/onnx/WeightTableBuilder.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace pipec::onnx {
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

bool isDeclared(const Model &model, const WeightDecl &decl,
                const WeightUse &use, int initializer,
                const std::function<void()> &before) {
  return samePermuted(
      {model.initializers[decl.initializer].source, storedShape(decl)},
      fromStored(decl, use), model.initializers[initializer].source, before);
}

std::function<void()> announcing(const Progress &progress,
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
  WeightDecl decl;
  decl.name = claim.name;
  decl.kind = claim.kind;
  decl.initializer = claim.owner;
  decl.type = claim.type;
  decl.permutation = claim.declared;
  WeightUse use;
  use.permutation = claim.use ? *claim.use : inversePermutation(claim.declared);
  auto known = byName.find(claim.name);
  if (known == byName.end()) {
    use.decl = static_cast<int>(table.decls.size());
    byName[claim.name] = use.decl;
    if (claim.kind == WeightKind::Parameter &&
        model.initializers[claim.owner].name == claim.name)
      bySize.emplace(std::pair(claim.type.dtype, claim.type.numElements()),
                     claim.owner);
    table.decls.push_back(std::move(decl));
    return use;
  }
  use.decl = known->second;
  const WeightDecl &other = table.decls[use.decl];
  if (other.type != claim.type ||
      !isDeclared(model, other, use, initializer,
                  announcing(progress, claim.name,
                             model.initializers[initializer].name, claim.type)))
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
    WeightDecl decl;
    decl.name = model.initializers[initializer].name;
    decl.initializer = initializer;
    decl.type = model.initializers[initializer].source.type;
    table.decls.push_back(std::move(decl));
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
  std::vector<int> order(table.decls.size()), place(table.decls.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return table.decls[a].initializer < table.decls[b].initializer;
  });
  std::vector<WeightDecl> sorted;
  for (int decl : order) {
    place[decl] = static_cast<int>(sorted.size());
    sorted.push_back(std::move(table.decls[decl]));
  }
  table.decls = std::move(sorted);
  for (auto &[reader, use] : table.uses)
    use.decl = place[use.decl];
  for (auto &[initializer, use] : table.defaults)
    use.decl = place[use.decl];
  return std::move(table);
}

std::optional<Claim>
WeightTableBuilder::claimCopy(int initializer, const std::string &name,
                              int owner,
                              const std::optional<Permutation> &expected) {
  const TensorSource &source = model.initializers[owner].source;
  std::vector<Permutation> moves = permutationsTo(
      {source, source.type.shape}, model.initializers[initializer].source,
      announcing(progress, name, model.initializers[initializer].name,
                 source.type));
  if (expected)
    moves.erase(std::remove_if(moves.begin(), moves.end(),
                               [&](const Permutation &move) {
                                 return moves.size() > 1 && move != *expected;
                               }),
                moves.end());
  if (moves.size() != 1)
    return std::nullopt;
  Claim claim{name, WeightKind::Parameter, owner, source.type, {}, moves[0]};
  auto known = byName.find(name);
  if (known != byName.end())
    claim.kind = table.decls[known->second].kind;
  table.copies[initializer] = name;
  return claim;
}

std::optional<Claim> WeightTableBuilder::claimCopyOfAny(int initializer) {
  const TensorSource &source = model.initializers[initializer].source;
  if (source.type.rank() < 1 || !isDistinctive(source))
    return std::nullopt;
  std::optional<Claim> found;
  auto [from, to] =
      bySize.equal_range({source.type.dtype, source.type.numElements()});
  for (auto kept = from; kept != to; ++kept) {
    auto copy = claimCopy(initializer, model.initializers[kept->second].name,
                          kept->second, {});
    if (copy && found) {
      table.copies.erase(initializer);
      return std::nullopt;
    }
    if (copy)
      found = std::move(copy);
  }
  return found;
}

void WeightTableBuilder::noteEqual(int initializer) {
  if (auto copy = claimCopyOfAny(initializer)) {
    table.copies.erase(initializer);
    table.equals[initializer] = copy->name;
  }
}

} // namespace pipec::onnx
