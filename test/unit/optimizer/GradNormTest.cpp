// Norms of gradients: exact sums, one order for every address, and clipping.
#include "runtime/optimizer/grad_norm.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

using namespace pipec;

namespace {

std::vector<float> values(int64_t n) {
  std::vector<float> result;
  uint32_t state = 7;
  for (int64_t i = 0; i < n; ++i) {
    state = state * 1664525 + 1013904223;
    result.push_back(std::ldexp(static_cast<float>(state >> 8), -22) - 2);
  }
  return result;
}

TEST(GradNormTest, SumsOfEveryLength) {
  EXPECT_EQ(squaredNorm(nullptr, 0), 0.0);
  for (int64_t n = 1; n < 70; ++n) {
    long double expected = 0;
    const std::vector<float> v = values(n);
    for (const float x : v)
      expected += static_cast<long double>(x) * x;
    EXPECT_NEAR(squaredNorm(v.data(), n), static_cast<double>(expected),
                1e-14 * n);
  }
}

TEST(GradNormTest, TheAddressChangesNoBit) {
  const std::vector<float> v = values(1001);
  const double expected = squaredNorm(v.data(), 1001);
  for (size_t shift = 1; shift < 20; ++shift) {
    std::vector<float> moved(shift);
    moved.insert(moved.end(), v.begin(), v.end());
    EXPECT_EQ(squaredNorm(moved.data() + shift, 1001), expected);
  }
}

TEST(GradNormTest, HugeGradientsDoNotOverflow) {
  const std::vector<float> v(100, std::numeric_limits<float>::max());
  EXPECT_TRUE(std::isfinite(squaredNorm(v.data(), 100)));
}

TEST(GradNormTest, ClipFactor) {
  EXPECT_EQ(clipFactor(0.5, 1), 1.0);
  EXPECT_EQ(clipFactor(0, 1), 1.0);
  EXPECT_EQ(clipFactor(4, 1), 1 / (4 + 1e-6));
  EXPECT_EQ(clipFactor(1, 1), 1 / (1 + 1e-6));
  EXPECT_EQ(clipFactor(std::numeric_limits<double>::infinity(), 1), 0.0);
  EXPECT_TRUE(
      std::isnan(clipFactor(std::numeric_limits<double>::quiet_NaN(), 1)));
}

} // namespace
