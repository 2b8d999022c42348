// Greedy placement by size (as in Pisarchyk and Lee, "Efficient Memory
// Management for Deep Neural Net Inference", 2020), the simplest rule that
// stays close to the lower bound. Tests:
// test/unit/passes/lower/MemoryPlanTest.cpp (random lifetimes: no overlap,
// close to the bound).
#include "passes/lower/MemoryPlan.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace pipec::pipe {
namespace {

uint64_t alignUp(uint64_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

/// Placed values, to find those whose lifetimes meet another's: a segment tree
/// over all lifetimes by their first step, with the latest last step of the
/// placed ones below each node.
class Placed {
public:
  explicit Placed(const std::vector<Lifetime> &lifetimes)
      : lifetimes(lifetimes), byFirst(lifetimes.size()),
        rank(lifetimes.size()) {
    std::iota(byFirst.begin(), byFirst.end(), 0);
    std::stable_sort(byFirst.begin(), byFirst.end(), [&](size_t a, size_t b) {
      return lifetimes[a].first < lifetimes[b].first;
    });
    for (size_t i = 0; i < byFirst.size(); ++i)
      rank[byFirst[i]] = i;
    while (leaves < byFirst.size())
      leaves *= 2;
    latest.assign(2 * leaves, kNone);
  }

  void add(size_t value) {
    size_t node = leaves + rank[value];
    for (latest[node] = lifetimes[value].last; node > 1; node /= 2)
      latest[node / 2] = std::max(latest[node / 2], latest[node]);
  }

  /// Calls `visit` with each placed value that lives in a step of `lifetime`.
  template <typename Visit>
  void forEachMeeting(const Lifetime &lifetime, Visit visit) const {
    size_t end = 0, count = byFirst.size();
    while (count) { // the first that begins too late
      const size_t half = count / 2;
      if (lifetimes[byFirst[end + half]].first <= lifetime.last) {
        end += half + 1;
        count -= half + 1;
      } else {
        count = half;
      }
    }
    descend(1, 0, leaves, end, lifetime.first, visit);
  }

private:
  static constexpr int64_t kNone = INT64_MIN;

  template <typename Visit>
  void descend(size_t node, size_t begin, size_t size, size_t end,
               int64_t first, Visit &visit) const {
    if (begin >= end || latest[node] == kNone || latest[node] < first)
      return;
    if (size == 1)
      return visit(byFirst[begin]);
    descend(2 * node, begin, size / 2, end, first, visit);
    descend(2 * node + 1, begin + size / 2, size / 2, end, first, visit);
  }

  const std::vector<Lifetime> &lifetimes;
  std::vector<size_t> byFirst, rank;
  size_t leaves = 1;
  std::vector<int64_t> latest; // by node; leaves last
};

} // namespace

MemoryPlan planMemory(const std::vector<Lifetime> &lifetimes) {
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return lifetimes[a].bytes > lifetimes[b].bytes;
  });
  MemoryPlan plan;
  plan.offsets.assign(lifetimes.size(), 0);
  Placed placed(lifetimes);
  std::vector<size_t> meeting; // by offset
  for (size_t value : order) {
    uint64_t size = alignUp(lifetimes[value].bytes);
    if (size == 0)
      continue;
    meeting.clear();
    placed.forEachMeeting(lifetimes[value],
                          [&](size_t other) { meeting.push_back(other); });
    std::sort(meeting.begin(), meeting.end(), [&](size_t a, size_t b) {
      return plan.offsets[a] < plan.offsets[b];
    });
    uint64_t offset = 0;
    for (size_t other : meeting) {
      if (plan.offsets[other] >= offset + size)
        break; // the gap before `other` is large enough
      offset = std::max(offset,
                        plan.offsets[other] + alignUp(lifetimes[other].bytes));
    }
    plan.offsets[value] = offset;
    plan.bytes = std::max(plan.bytes, offset + size);
    placed.add(value);
  }
  return plan;
}

} // namespace pipec::pipe
