// Random lifetimes: nothing that lives together overlaps, and the arena stays
// close to the lower bound.
#include "passes/lower/MemoryPlan.h"

#include <gtest/gtest.h>

#include <random>

using namespace pipec::pipe;

namespace {

void expectNoOverlap(const std::vector<Lifetime> &values,
                     const MemoryPlan &plan) {
  for (size_t a = 0; a < values.size(); ++a) {
    EXPECT_EQ(plan.offsets[a] % kArenaAlignment, 0u);
    EXPECT_LE(plan.offsets[a] + values[a].bytes, plan.bytes);
    for (size_t b = 0; b < a; ++b) {
      bool together = values[a].first <= values[b].last &&
                      values[b].first <= values[a].last;
      bool apart = plan.offsets[a] + values[a].bytes <= plan.offsets[b] ||
                   plan.offsets[b] + values[b].bytes <= plan.offsets[a];
      EXPECT_TRUE(!together || apart || !values[a].bytes || !values[b].bytes)
          << a << " and " << b;
    }
  }
}

uint64_t lowerBound(const std::vector<Lifetime> &values, int64_t steps) {
  uint64_t bound = 0;
  for (int64_t t = 0; t < steps; ++t) {
    uint64_t live = 0;
    for (const Lifetime &v : values)
      if (v.first <= t && t <= v.last)
        live += (v.bytes + 63) / 64 * 64;
    bound = std::max(bound, live);
  }
  return bound;
}

TEST(MemoryPlan, RandomLifetimes) {
  std::mt19937 random(11);
  for (int round = 0; round < 60; ++round) {
    std::vector<Lifetime> values;
    for (int i = 0; i < 80; ++i) {
      int64_t first = random() % 80;
      values.push_back({first, first + int64_t(random() % 6), random() % 5000});
    }
    MemoryPlan plan = planMemory(values);
    expectNoOverlap(values, plan);
    EXPECT_LE(plan.bytes, lowerBound(values, 90) * 3 / 2);
  }
}

TEST(MemoryPlan, AChainNeedsTwoPlaces) {
  std::vector<Lifetime> values;
  for (int64_t i = 0; i < 10; ++i)
    values.push_back({i, i + 1, 256});
  EXPECT_EQ(planMemory(values).bytes, 512u);
}

TEST(MemoryPlan, NothingNeedsNothing) {
  EXPECT_EQ(planMemory({}).bytes, 0u);
  EXPECT_EQ(planMemory({{0, 5, 0}, {1, 2, 0}}).bytes, 0u);
}

} // namespace
