// The strided copy that transpose, broadcast, slice, concat and packing share.
// In: sizes and strides of two regions. Out: bytes moved, in memcpy runs where
// both are contiguous, in square tiles where each is contiguous in another
// dimension. Tests: test/unit/kernels/MoveTest.cpp.
#include "runtime/kernels/reference/strided.h"

#include <algorithm>
#include <cstring>

namespace pipec::reference {
namespace {

constexpr int64_t kTile = 16;

template <typename U>
void copyRow(U *out, int64_t outStride, const U *in, int64_t inStride,
             int64_t n) {
  if (outStride == 1 && inStride == 1) {
    std::memcpy(out, in, static_cast<size_t>(n) * sizeof(U));
  } else if (outStride == 1 && inStride == 0) {
    std::fill_n(out, n, *in);
  } else {
    for (int64_t i = 0; i < n; ++i)
      out[i * outStride] = in[i * inStride];
  }
}

// out[i * outStride + j] = in[i + j * inStride], by way of a buffer: every
// cache line of both is touched once, in one go.
template <typename U>
void copyTile(U *out, int64_t outStride, const U *in, int64_t inStride,
              int64_t m, int64_t n) {
  U tile[kTile][kTile];
  if (m == kTile && n == kTile) { // sizes that the compiler knows
    for (int64_t j = 0; j < kTile; ++j)
      std::memcpy(tile[j], in + j * inStride, sizeof(tile[j]));
    for (int64_t i = 0; i < kTile; ++i) {
      U row[kTile];
      for (int64_t j = 0; j < kTile; ++j)
        row[j] = tile[j][i];
      std::memcpy(out + i * outStride, row, sizeof(row));
    }
    return;
  }
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < m; ++i)
      tile[j][i] = in[j * inStride + i];
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      out[i * outStride + j] = tile[j][i];
}

} // namespace

StridedCopy::StridedCopy(Shape sizes, Shape outStrides, Shape inStrides,
                         size_t width)
    : width(width) {
  nest.sizes = std::move(sizes);
  nest.strides = {std::move(outStrides), std::move(inStrides)};
  nest.simplify();
  const size_t last = nest.sizes.size() - 1;
  if (last == 0 || nest.strides[0][last] != 1 || nest.strides[1][last] <= 1)
    return;
  // Bring the dimension that is contiguous in the source next to the one that
  // is contiguous in the result.
  for (size_t d = 0; d < last; ++d) {
    if (nest.strides[1][d] != 1 || nest.sizes[d] < 4)
      continue;
    const auto rotate = [&](Shape &list) {
      std::rotate(list.begin() + d, list.begin() + d + 1, list.begin() + last);
    };
    rotate(nest.sizes);
    rotate(nest.strides[0]);
    rotate(nest.strides[1]);
    tiled = true;
    return;
  }
}

template <typename U> void StridedCopy::runTyped(U *out, const U *in) {
  const int64_t n = nest.inner(), so = nest.innerStride(0),
                si = nest.innerStride(1);
  if (!tiled) {
    nest.forEach([&](const std::array<int64_t, 2> &at) {
      copyRow(out + at[0], so, in + at[1], si, n);
    });
    return;
  }
  const size_t second = nest.sizes.size() - 2;
  const int64_t m = nest.sizes[second], mo = nest.strides[0][second];
  nest.forEach(
      [&](const std::array<int64_t, 2> &at) {
        for (int64_t i = 0; i < m; i += kTile)
          for (int64_t j = 0; j < n; j += kTile)
            copyTile(out + at[0] + i * mo + j, mo, in + at[1] + i + j * si, si,
                     std::min(kTile, m - i), std::min(kTile, n - j));
      },
      2);
}

void StridedCopy::run(void *out, const void *in) {
  switch (width) {
  case 1:
    return runTyped(static_cast<uint8_t *>(out),
                    static_cast<const uint8_t *>(in));
  case 2:
    return runTyped(static_cast<uint16_t *>(out),
                    static_cast<const uint16_t *>(in));
  case 4:
    return runTyped(static_cast<uint32_t *>(out),
                    static_cast<const uint32_t *>(in));
  default:
    return runTyped(static_cast<uint64_t *>(out),
                    static_cast<const uint64_t *>(in));
  }
}

} // namespace pipec::reference
