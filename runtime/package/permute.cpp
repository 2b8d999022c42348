// Permuted copy of a dense array, in tiles: the last axis of the result and
// the axis that is contiguous in the source are walked in blocks, so that both
// sides stay in cache for large transposed weights.
// Tests: test/unit/runtime/PermuteTest.cpp.
#include "runtime/package/permute.h"

#include <algorithm>
#include <cstring>

namespace pipec {
namespace {

constexpr int64_t kTile = 32;

struct Axis {
  int64_t size = 1, from = 0, to = 0; // strides in elements
};

/// Copies the plane of axes a and b in tiles.
template <size_t N>
void copyPlane(const uint8_t *from, uint8_t *to, const Axis &a, const Axis &b) {
  for (int64_t i0 = 0; i0 < a.size; i0 += kTile)
    for (int64_t j0 = 0; j0 < b.size; j0 += kTile)
      for (int64_t i = i0, ie = std::min(i0 + kTile, a.size); i < ie; ++i)
        for (int64_t j = j0, je = std::min(j0 + kTile, b.size); j < je; ++j)
          std::memcpy(to + (i * a.to + j * b.to) * N,
                      from + (i * a.from + j * b.from) * N, N);
}

template <size_t N>
void copyAll(const uint8_t *from, uint8_t *to, std::vector<Axis> axes) {
  // The result's last axis, then the source's contiguous one, leave the outer
  // loop.
  Axis inner = axes.back(), contiguous;
  axes.pop_back();
  auto it = std::min_element(
      axes.begin(), axes.end(),
      [](const Axis &l, const Axis &r) { return l.from < r.from; });
  if (it != axes.end()) {
    contiguous = *it;
    axes.erase(it);
  }
  std::vector<int64_t> at(axes.size(), 0);
  while (true) {
    int64_t fromOffset = 0, toOffset = 0;
    for (size_t k = 0; k < axes.size(); ++k) {
      fromOffset += at[k] * axes[k].from;
      toOffset += at[k] * axes[k].to;
    }
    copyPlane<N>(from + fromOffset * N, to + toOffset * N, contiguous, inner);
    size_t k = axes.size();
    while (k > 0 && ++at[k - 1] == axes[k - 1].size)
      at[--k] = 0;
    if (k == 0)
      return;
  }
}

} // namespace

void permuteCopy(const void *from, const std::vector<int64_t> &storedShape,
                 const std::vector<int64_t> &permutation, size_t elementBytes,
                 void *to) {
  const size_t rank = storedShape.size();
  std::vector<int64_t> fromStrides(rank, 1);
  for (size_t k = rank; k-- > 1;)
    fromStrides[k - 1] = fromStrides[k] * storedShape[k];
  std::vector<Axis> axes(std::max<size_t>(rank, 1));
  int64_t stride = 1;
  for (size_t k = rank; k-- > 0;) {
    axes[k] = {storedShape[permutation[k]], fromStrides[permutation[k]],
               stride};
    stride *= axes[k].size;
  }
  for (const Axis &axis : axes)
    if (axis.size == 0)
      return;
  const uint8_t *source = static_cast<const uint8_t *>(from);
  uint8_t *target = static_cast<uint8_t *>(to);
  switch (elementBytes) {
  case 1:
    return copyAll<1>(source, target, std::move(axes));
  case 2:
    return copyAll<2>(source, target, std::move(axes));
  case 4:
    return copyAll<4>(source, target, std::move(axes));
  default:
    return copyAll<8>(source, target, std::move(axes));
  }
}

} // namespace pipec
