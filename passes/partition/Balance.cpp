// The automatic cut: contiguous stages, balanced by estimated time.
//
// Idea: bisect on the time of the slowest stage, with a greedy sweep as the
// feasibility test (optimal for contiguous stages); then, among all cuts whose
// slowest stage is within 5 % of that, a dynamic program finds the fewest bytes
// sent. Cost: O(n log(1/eps) + stages * n). Deterministic. Tests:
// test/unit/passes/partition/BalanceTest.cpp (against brute force).
#include "passes/partition/PartitionPlan.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <deque>
#include <limits>

using namespace mlir;

namespace pipec::pipe {
namespace {

constexpr double kSlack = 1.05;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The ops of one node of the model file, with the repeated ones before it (and
/// behind the last): cuts fall between units only, so no stage is empty.
struct Unit {
  int64_t position = 0;
  double seconds = 0;
  int64_t lastPosition = 0;
  bool hasOwnOp = false;
};

struct Units {
  std::vector<Unit> list;
  std::vector<double> prefix;      // prefix[i]: seconds of units 0..i-1
  std::vector<double> bytesBefore; // bytes that a cut before unit i sends

  double seconds(size_t first, size_t last) const {
    return prefix[last] - prefix[first];
  }
};

/// Bytes of the values made before each unit and read at or after it, that a
/// stage would have to send.
std::vector<double>
crossingBytes(GraphOp graph, const std::vector<GraphNode> &nodes,
              const llvm::DenseMap<Operation *, size_t> &unitOf,
              size_t numUnits) {
  Replication replication(graph);
  std::vector<double> change(numUnits + 1, 0.0);
  for (const GraphNode &node : nodes) {
    if (replication.isReplicable(node.op))
      continue;
    size_t made = unitOf.lookup(node.op);
    for (Value result : node.op->getResults()) {
      size_t lastRead = made;
      for (Operation *user : result.getUsers())
        if (unitOf.contains(user))
          lastRead = std::max(lastRead, unitOf.lookup(user));
      change[made + 1 > numUnits ? numUnits : made + 1] += valueBytes(result);
      change[std::min(lastRead + 1, numUnits)] -= valueBytes(result);
    }
  }
  for (size_t i = 1; i < change.size(); ++i)
    change[i] += change[i - 1];
  return change;
}

Units collectUnits(GraphOp graph, const std::vector<GraphNode> &nodes) {
  Units units;
  llvm::DenseMap<Operation *, size_t> unitOf;
  const size_t ownOps = llvm::count_if(
      nodes, [](const GraphNode &node) { return !node.isRepeated; });
  size_t ownOpsSeen = 0;
  for (const GraphNode &node : nodes) {
    if (units.list.empty() ||
        (units.list.back().hasOwnOp && ownOpsSeen < ownOps &&
         units.list.back().lastPosition != node.origin.index))
      units.list.push_back({node.origin.index});
    Unit &unit = units.list.back();
    unit.seconds += node.seconds;
    unit.lastPosition = node.origin.index;
    unit.hasOwnOp |= !node.isRepeated;
    ownOpsSeen += !node.isRepeated;
    unitOf[node.op] = units.list.size() - 1;
  }
  units.prefix.assign(1, 0.0);
  for (const Unit &unit : units.list)
    units.prefix.push_back(units.prefix.back() + unit.seconds);
  units.bytesBefore = crossingBytes(graph, nodes, unitOf, units.list.size());
  return units;
}

/// Stages that a greedy sweep needs when none may take longer than `cap`.
int64_t stagesNeeded(const Units &units, double cap) {
  int64_t stages = 1;
  double current = 0;
  for (const Unit &unit : units.list) {
    if (current > 0 && current + unit.seconds > cap) {
      ++stages;
      current = 0;
    }
    current += unit.seconds;
  }
  return stages;
}

double leastSlowestStage(const Units &units, int64_t stages) {
  double low = 0, high = units.prefix.back();
  for (const Unit &unit : units.list)
    low = std::max(low, unit.seconds);
  for (int step = 0; step < 60 && low < high; ++step) {
    double middle = (low + high) / 2;
    (stagesNeeded(units, middle) <= stages ? high : low) = middle;
  }
  return high;
}

/// First units of stages 1.. with no stage above `cap` and the fewest bytes
/// sent; empty when there are none.
std::vector<size_t> cheapestCuts(const Units &units, int64_t stages,
                                 double cap) {
  size_t n = units.list.size();
  // best[i]: bytes sent when units 0..i-1 make s + 1 stages; from[s][i]: where
  // the last begins, of equally good places the latest.
  std::vector<double> best(n + 1, kInfinity);
  std::vector<std::vector<uint32_t>> from(stages);
  for (size_t i = 1; i <= n && units.seconds(0, i) <= cap; ++i)
    best[i] = 0;
  for (int64_t s = 1; s < stages; ++s) {
    std::vector<double> next(n + 1, kInfinity);
    from[s].assign(n + 1, 0);
    // Beginnings j that fit into `cap`, later and dearer ones behind.
    std::deque<size_t> window;
    auto bytes = [&](size_t j) { return best[j] + units.bytesBefore[j]; };
    for (size_t i = s + 1; i <= n; ++i) {
      while (!window.empty() && bytes(window.back()) >= bytes(i - 1))
        window.pop_back();
      window.push_back(i - 1);
      while (!window.empty() && units.seconds(window.front(), i) > cap)
        window.pop_front();
      if (window.empty() || bytes(window.front()) == kInfinity)
        continue;
      next[i] = bytes(window.front());
      from[s][i] = static_cast<uint32_t>(window.front());
    }
    best = std::move(next);
  }
  if (best[n] == kInfinity)
    return {};
  std::vector<size_t> cuts;
  for (size_t s = stages - 1, i = n; s > 0; --s)
    cuts.insert(cuts.begin(), i = from[s][i]);
  return cuts;
}

Status tooManyStages(const Units &units, const std::vector<GraphNode> &nodes,
                     int64_t stages) {
  const size_t most = units.list.size();
  const bool someRepeated = llvm::any_of(
      nodes, [](const GraphNode &node) { return node.isRepeated; });
  return invalidArgument(
      "the model has " + std::to_string(most) +
      (most == 1 ? " operation" : " operations") + " to place" +
      (someRepeated ? " beside masks, positions and the like, which every "
                      "stage that reads them computes itself"
                    : "") +
      ", too few for " + std::to_string(stages) + " stages; ask for " +
      std::to_string(std::max<size_t>(most, 1)) +
      (most > 1 ? " or fewer" : ""));
}

} // namespace

StatusOr<PartitionPlan> planBalanced(GraphOp graph,
                                     const std::vector<GraphNode> &nodes,
                                     int64_t stages) {
  if (stages < 1)
    return invalidArgument("the number of stages must be 1 or more, got " +
                           std::to_string(stages));
  Units units = collectUnits(graph, nodes);
  if (static_cast<int64_t>(units.list.size()) < stages)
    return tooManyStages(units, nodes, stages);
  if (stages == 1)
    return PartitionPlan{};
  // The tiny factor keeps rounding in the prefix sums from hiding the optimum
  // itself.
  double cap = leastSlowestStage(units, stages) * kSlack;
  std::vector<size_t> cuts = cheapestCuts(units, stages, cap);
  if (cuts.empty()) // fewer heavy units than stages: the sweep can only use
                    // some of them
    cuts = cheapestCuts(units, stages, kInfinity);
  PartitionPlan plan;
  for (size_t cut : cuts)
    plan.cuts.push_back({units.list[cut].position, "balanced"});
  PIPEC_RETURN_IF_ERROR(plan.verify(nodes));
  return plan;
}

} // namespace pipec::pipe
