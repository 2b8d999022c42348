// The order of long sums, in one place: reductions, softmax and norms share it.
//
// A row of n elements is summed in 8 lanes, lane j taking elements j, j + 8, ..
// in ascending order; the lanes are then added pairwise (0+4, 1+5, 2+6, 3+7,
// then 0+2, 1+3, then both). The order follows from n alone. Sums run in
// Accumulator<T>: f64 for f32, f32 for f16 and bf16. Private to the kernels.
#ifndef PIPEC_RUNTIME_KERNELS_REFERENCE_SUMS_H
#define PIPEC_RUNTIME_KERNELS_REFERENCE_SUMS_H

#include "runtime/kernels/reference/types.h"

namespace pipec::reference {

constexpr int64_t kLanes = 8;

/// Combine::apply over value(0) .. value(n - 1), from `identity`, in lane
/// order.
template <typename Combine, typename A, typename F>
A combineRow(int64_t n, A identity, F &&value) {
  A lanes[kLanes];
  for (A &lane : lanes)
    lane = identity;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t j = 0; j < kLanes; ++j)
      lanes[j] = Combine::apply(lanes[j], value(i + j));
  for (int64_t j = 0; i < n; ++i, ++j)
    lanes[j] = Combine::apply(lanes[j], value(i));
  for (int64_t half = kLanes / 2; half > 0; half /= 2)
    for (int64_t j = 0; j < half; ++j)
      lanes[j] = Combine::apply(lanes[j], lanes[j + half]);
  return lanes[0];
}

/// a + b; integers wrap.
struct CombineSum {
  template <typename A> static A apply(A a, A b) {
    if constexpr (std::is_integral_v<A>)
      return static_cast<A>(static_cast<uint64_t>(a) +
                            static_cast<uint64_t>(b));
    else
      return a + b;
  }
};

/// The sum of value(0) .. value(n - 1).
template <typename A, typename F> A sumRow(int64_t n, F &&value) {
  return combineRow<CombineSum>(n, A(0), value);
}

} // namespace pipec::reference

#endif
