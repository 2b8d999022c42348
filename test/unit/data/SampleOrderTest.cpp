// Permutations are permutations, look random, and never change; epochs follow
// one another.
#include "runtime/data/sample_order.h"

#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <set>
#include <vector>

using namespace pipec;

namespace {

std::vector<uint64_t> all(uint64_t n, uint64_t seed, uint64_t epoch) {
  const Permutation permutation(n, seed, epoch);
  std::vector<uint64_t> values;
  for (uint64_t i = 0; i < n; ++i)
    values.push_back(permutation(i));
  return values;
}

TEST(PermutationTest, HasEveryElementOnce) {
  for (const uint64_t n :
       {1u, 2u, 3u, 7u, 16u, 17u, 255u, 256u, 257u, 1000u, 4096u, 65537u}) {
    const std::vector<uint64_t> values = all(n, 3, 4);
    const std::set<uint64_t> distinct(values.begin(), values.end());
    EXPECT_EQ(distinct.size(), n);
    EXPECT_LT(*distinct.rbegin(), n);
  }
}

TEST(PermutationTest, SeedsAndEpochsDiffer) {
  std::set<std::vector<uint64_t>> seen;
  for (uint64_t seed = 0; seed < 5; ++seed)
    for (uint64_t epoch = 0; epoch < 5; ++epoch)
      seen.insert(all(100, seed, epoch));
  EXPECT_EQ(seen.size(), 25u);
}

// A checkpoint resumed by a later pipec must go on with the same data: these
// numbers, which a Python rendering of the same formulas printed, may never
// change.
TEST(PermutationTest, IsTheSameForEver) {
  EXPECT_EQ(all(10, 0, 0),
            (std::vector<uint64_t>{2, 3, 0, 4, 9, 6, 1, 8, 7, 5}));
  EXPECT_EQ(Permutation(uint64_t(1) << 62, 1, 2)(12345), 3464318776289166944u);
}

// Each of the 24 orders of four elements should come about as often.
TEST(PermutationTest, OrdersOfASmallSetAreEquallyLikely) {
  std::map<std::vector<uint64_t>, int> counts;
  constexpr int kTrials = 24000;
  for (int seed = 0; seed < kTrials; ++seed)
    ++counts[all(4, seed, 0)];
  ASSERT_EQ(counts.size(), 24u);
  double chi = 0;
  for (const auto &[order, count] : counts)
    chi += std::pow(count - kTrials / 24.0, 2) / (kTrials / 24.0);
  EXPECT_LT(chi, 49.7); // 23 degrees of freedom, p = 0.001
}

TEST(PermutationTest, NeighboursAreTornApart) {
  const std::vector<uint64_t> values = all(10000, 9, 0);
  double sum = 0;
  for (size_t i = 0; i + 1 < values.size(); ++i)
    sum += std::fabs(static_cast<double>(values[i]) -
                     static_cast<double>(values[i + 1]));
  EXPECT_NEAR(sum / 9999, 10000 / 3.0, 100); // the mean of random pairs
}

std::vector<int64_t> samples(const SampleOrder &order, int64_t first,
                             int64_t n) {
  std::vector<int64_t> values(static_cast<size_t>(n));
  order.elements(first, n, values.data());
  return values;
}

TEST(SampleOrderTest, InOrderItWraps) {
  EXPECT_EQ(samples(SampleOrder(5, false, 1), 3, 8),
            (std::vector<int64_t>{3, 4, 0, 1, 2, 3, 4, 0}));
}

TEST(SampleOrderTest, ShuffledEpochsAreWholeAndBatchesAgree) {
  const SampleOrder order(7, true, 5);
  const std::vector<int64_t> whole = samples(order, 0, 28);
  for (int epoch = 0; epoch < 4; ++epoch) {
    const std::set<int64_t> seen(whole.begin() + 7 * epoch,
                                 whole.begin() + 7 * epoch + 7);
    EXPECT_EQ(seen.size(), 7u);
  }
  for (int64_t first = 0; first < 24; ++first)
    EXPECT_EQ(
        samples(order, first, 4),
        std::vector<int64_t>(whole.begin() + first, whole.begin() + first + 4));
}

TEST(SampleOrderTest, StepsOutOfRangeAreErrors) {
  EXPECT_EQ(*SampleOrder::firstOf(3, 4), 12);
  EXPECT_FALSE(SampleOrder::firstOf(-1, 4).ok());
  EXPECT_FALSE(SampleOrder::firstOf(int64_t(1) << 62, 4).ok());
  EXPECT_FALSE(SampleOrder::firstOf(INT64_MAX, 1).ok());
}

} // namespace
