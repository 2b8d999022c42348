// Greedy placement by size (as in Pisarchyk and Lee, "Efficient Memory
// Management for Deep Neural Net Inference", 2020), the simplest rule that
// stays close to the lower bound. Tests:
// test/unit/passes/lower/MemoryPlanTest.cpp (random lifetimes: no overlap,
// close to the bound).
#include "passes/lower/MemoryPlan.h"

#include <algorithm>
#include <numeric>

namespace pipec::pipe {
namespace {

uint64_t alignUp(uint64_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

bool overlap(const Lifetime &a, const Lifetime &b) {
  return a.first <= b.last && b.first <= a.last;
}

} // namespace

MemoryPlan planMemory(const std::vector<Lifetime> &lifetimes) {
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return lifetimes[a].bytes > lifetimes[b].bytes;
  });
  MemoryPlan plan;
  plan.offsets.assign(lifetimes.size(), 0);
  std::vector<size_t> placed; // by offset
  for (size_t value : order) {
    uint64_t size = alignUp(lifetimes[value].bytes);
    if (size == 0)
      continue;
    uint64_t offset = 0;
    for (size_t other : placed) {
      if (!overlap(lifetimes[value], lifetimes[other]))
        continue;
      if (plan.offsets[other] >= offset + size)
        break; // the gap before `other` is large enough
      offset = std::max(offset,
                        plan.offsets[other] + alignUp(lifetimes[other].bytes));
    }
    plan.offsets[value] = offset;
    plan.bytes = std::max(plan.bytes, offset + size);
    auto at = std::upper_bound(
        placed.begin(), placed.end(), offset,
        [&](uint64_t o, size_t p) { return o < plan.offsets[p]; });
    placed.insert(at, value);
  }
  return plan;
}

} // namespace pipec::pipe
