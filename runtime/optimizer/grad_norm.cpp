// Sums squares for the gradient norm. In: f32 values. Out: one f64.
//
// Element i goes to the running sum i mod 16 and those are added pairwise at
// the end: sixteen independent chains keep vector units busy, and the compiler
// may not reorder any of them. A square of an f32 is exact in f64.
// Tests: test/unit/optimizer/GradNormTest.cpp.
#include "runtime/optimizer/grad_norm.h"

namespace pipec {

double squaredNorm(const float *values, int64_t n) {
  constexpr int kLanes = 16;
  double sums[kLanes] = {};
  const int64_t whole = n / kLanes * kLanes;
  for (int64_t i = 0; i < whole; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) {
      const double value = values[i + lane];
      sums[lane] += value * value;
    }
  for (int64_t i = whole; i < n; ++i) {
    const double value = values[i];
    sums[i - whole] += value * value;
  }
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int lane = 0; lane < width; ++lane)
      sums[lane] += sums[lane + width];
  return sums[0];
}

double clipFactor(double norm, double clip) {
  const double factor = clip / (norm + 1e-6);
  // Not std::min: a NaN must come through.
  return factor > 1 ? 1 : factor;
}

} // namespace pipec
