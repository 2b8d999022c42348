// Loops over several strided arrays at once: the frame of broadcasting and of
// every op that moves data.
//
// Dimensions of 1 are dropped and neighbours merged where all arrays allow, so
// that the innermost loop is as long as the layout permits. Private to the
// kernels.
#ifndef PIPEC_RUNTIME_KERNELS_REFERENCE_STRIDED_H
#define PIPEC_RUNTIME_KERNELS_REFERENCE_STRIDED_H

#include "runtime/kernels/reference/support.h"

#include <array>

namespace pipec::reference {

/// A loop nest over N arrays; strides count elements. After simplify() there is
/// at least one dimension, the last is the innermost.
template <size_t N> struct LoopNest {
  Shape sizes;
  std::array<Shape, N> strides;
  Shape counter; // of run's outer loops; a kernel is not re-entrant

  void simplify() {
    LoopNest merged;
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (sizes[d] == 1)
        continue;
      bool joins = !merged.sizes.empty();
      for (size_t a = 0; joins && a < N; ++a)
        joins = merged.strides[a].back() == strides[a][d] * sizes[d];
      for (size_t a = 0; a < N; ++a) {
        if (joins)
          merged.strides[a].back() = strides[a][d];
        else
          merged.strides[a].push_back(strides[a][d]);
      }
      if (joins)
        merged.sizes.back() *= sizes[d];
      else
        merged.sizes.push_back(sizes[d]);
    }
    if (merged.sizes.empty()) {
      merged.sizes = {1};
      merged.strides.fill({1});
    }
    merged.counter.resize(merged.sizes.size());
    *this = std::move(merged);
  }

  int64_t inner() const { return sizes.back(); }
  int64_t innerStride(size_t array) const { return strides[array].back(); }

  /// body(offsets) at each position of all dimensions but the innermost
  /// `innerDims`; nothing where any size is 0.
  template <typename F> void forEach(F &&body, size_t innerDims = 1) {
    for (int64_t size : sizes)
      if (size == 0)
        return;
    const size_t outer = sizes.size() - innerDims;
    std::array<int64_t, N> offsets{};
    std::fill(counter.begin(), counter.end(), 0);
    while (true) {
      body(offsets);
      size_t d = outer;
      while (d > 0) {
        --d;
        for (size_t a = 0; a < N; ++a)
          offsets[a] += strides[a][d];
        if (++counter[d] < sizes[d])
          break;
        for (size_t a = 0; a < N; ++a)
          offsets[a] -= strides[a][d] * sizes[d];
        counter[d] = 0;
        if (d == 0)
          return;
      }
      if (outer == 0)
        return;
    }
  }
};

/// Copies a strided region of one array to a strided region of another. Array
/// 0 is written, array 1 read; offsets of the regions are added by the caller.
class StridedCopy {
public:
  StridedCopy() = default;
  /// `sizes` of the region, strides of both in elements of `width` bytes (1, 2,
  /// 4, 8).
  StridedCopy(Shape sizes, Shape outStrides, Shape inStrides, size_t width);
  void run(void *out, const void *in);

private:
  template <typename U> void runTyped(U *out, const U *in);

  LoopNest<2> nest;
  size_t width = 1;
  bool tiled =
      false; // the two innermost dimensions are contiguous in one array each
};

} // namespace pipec::reference

#endif
