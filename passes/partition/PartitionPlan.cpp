// The plan as data: merging of equal places, verification, printing.
// Tests: test/unit/passes/partition/PartitionPlanTest.cpp.
#include "passes/partition/PartitionPlan.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

namespace pipec::pipe {

int64_t PartitionPlan::stageOf(int64_t position) const {
  auto after = std::upper_bound(
      cuts.begin(), cuts.end(), position,
      [](int64_t p, const Cut &cut) { return p < cut.position; });
  return after - cuts.begin();
}

PartitionPlan planFromCuts(std::vector<Cut> cuts,
                           const std::vector<GraphNode> &nodes) {
  std::stable_sort(cuts.begin(), cuts.end(), [](const Cut &a, const Cut &b) {
    return a.position < b.position;
  });
  // A place is the number of ops before it: cuts of equal place are one.
  auto place = [&](const Cut &cut) {
    return std::lower_bound(nodes.begin(), nodes.end(), cut.position,
                            [](const GraphNode &node, int64_t p) {
                              return node.origin.index < p;
                            }) -
           nodes.begin();
  };
  PartitionPlan plan;
  for (Cut &cut : cuts)
    if (plan.cuts.empty() || place(plan.cuts.back()) != place(cut))
      plan.cuts.push_back(std::move(cut));
  return plan;
}

Status PartitionPlan::verify(const std::vector<GraphNode> &nodes) const {
  for (size_t i = 1; i < cuts.size(); ++i)
    if (cuts[i - 1].position >= cuts[i].position)
      return invalidArgument("split '" + cuts[i].reason +
                             "' does not come after split '" +
                             cuts[i - 1].reason + "'");
  std::vector<int64_t> ops(numStages(), 0), repeated(numStages(), 0);
  for (const GraphNode &node : nodes)
    ++(node.isRepeated ? repeated : ops)[stageOf(node.origin.index)];
  for (int64_t stage = 0; stage < numStages(); ++stage) {
    if (ops[stage])
      continue;
    if (cuts.empty())
      return invalidArgument("the model has no operation to run");
    bool last = stage == numStages() - 1;
    const Cut &cut = cuts[last ? stage - 1 : stage];
    return invalidArgument(
        llvm::formatv("split '{0}' leaves stage {1} empty: no operation lies "
                      "{2} it{3}; drop this split",
                      cut.reason, stage,
                      last         ? "after"
                      : stage == 0 ? "before"
                                   : "between the split before and",
                      repeated[stage]
                          ? " but masks, positions and the like, which every "
                            "stage that reads them computes itself"
                          : "")
            .str());
  }
  return {};
}

std::string PartitionPlan::dump(const std::vector<GraphNode> &nodes) const {
  std::string text;
  for (int64_t stage = 0; stage < numStages(); ++stage) {
    int64_t count = 0, first = -1, last = -1;
    double seconds = 0;
    for (const GraphNode &node : nodes) {
      if (stageOf(node.origin.index) != stage)
        continue;
      first = count++ ? first : node.origin.index;
      last = node.origin.index;
      seconds += node.seconds;
    }
    text += llvm::formatv("stage {0}: nodes {1}..{2}, {3} ops, {4:F1} us{5}\n",
                          stage, first, last, count, seconds * 1e6,
                          stage ? " (cut: " + cuts[stage - 1].reason + ")"
                                : std::string());
  }
  return text;
}

} // namespace pipec::pipe
