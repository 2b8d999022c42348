// The softmax of one row, shared by softmax, log_softmax and attention.
#ifndef PIPEC_RUNTIME_KERNELS_REFERENCE_SOFTMAX_ROW_H
#define PIPEC_RUNTIME_KERNELS_REFERENCE_SOFTMAX_ROW_H

#include "runtime/kernels/reference/sums.h"

#include <cmath>
#include <limits>

namespace pipec::reference {

/// The largest element, a NaN if there is one, -inf of none.
template <typename C> C maxOfRow(const C *row, int64_t n) {
  struct Larger {
    static C apply(C a, C b) { return a > b || a != a ? a : b; }
  };
  return combineRow<Larger>(n, -std::numeric_limits<C>::infinity(),
                            [row](int64_t i) { return row[i]; });
}

/// In place: e^(x - max) over their sum. The sum runs in Accumulator<C>.
template <typename C> void softmaxRow(C *row, int64_t n, C max) {
  for (int64_t i = 0; i < n; ++i)
    row[i] = std::exp(row[i] - max);
  using A = Accumulator<C>;
  const C sum = static_cast<C>(
      sumRow<A>(n, [row](int64_t i) { return static_cast<A>(row[i]); }));
  for (int64_t i = 0; i < n; ++i)
    row[i] /= sum;
}

/// In place: x - max - log(sum of e^(x - max)).
template <typename C> void logSoftmaxRow(C *row, int64_t n, C max) {
  using A = Accumulator<C>;
  const A sum = sumRow<A>(n, [row, max](int64_t i) {
    return static_cast<A>(std::exp(row[i] - max));
  });
  const C logSum = std::log(static_cast<C>(sum));
  for (int64_t i = 0; i < n; ++i)
    row[i] = row[i] - max - logSum;
}

} // namespace pipec::reference

#endif
