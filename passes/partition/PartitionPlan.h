// Where a graph is cut: plain data, independent of the microbatch size.
#ifndef PIPEC_PASSES_PARTITION_PARTITIONPLAN_H
#define PIPEC_PASSES_PARTITION_PARTITIONPLAN_H

#include "passes/partition/GraphOps.h"

#include "pipec/status.h"

namespace pipec::pipe {

/// A cut before the node at `position` of the walk that imported the graph
/// (Origin::index).
struct Cut {
  int64_t position = 0;
  std::string reason; // the split point as given, or "balanced"
};

/// Cuts in ascending order; stage k holds the nodes between cut k - 1 and cut
/// k.
///
/// Invariants (checked by verify): positions ascend strictly; every stage has
/// at least one tensor op that other stages do not repeat; no op reads a value
/// that a later stage makes.
struct PartitionPlan {
  std::vector<Cut> cuts;

  int64_t numStages() const { return static_cast<int64_t>(cuts.size()) + 1; }
  /// The stage of the node at `position`.
  int64_t stageOf(int64_t position) const;
  /// Errors name the split point that is at fault, or the op.
  Status verify(const std::vector<GraphNode> &nodes) const;
  /// One line a stage: positions, number of ops, estimated time, the cut's
  /// reason.
  std::string dump(const std::vector<GraphNode> &nodes) const;
};

/// Sorts cuts and merges those with no tensor op between them.
PartitionPlan planFromCuts(std::vector<Cut> cuts,
                           const std::vector<GraphNode> &nodes);

/// `--split` texts ("layer0:END", "h.*: BEGIN", "node_name:END") resolved
/// against the graph. Unknown paths come back with the closest that exist.
StatusOr<PartitionPlan> planFromSplits(const std::vector<GraphNode> &nodes,
                                       const std::vector<std::string> &splits);

/// `stages` stages: the least possible time of the slowest stage, and among the
/// cuts within 5 % of that the fewest bytes sent. An error when there are fewer
/// ops than stages.
StatusOr<PartitionPlan> planBalanced(GraphOp graph,
                                     const std::vector<GraphNode> &nodes,
                                     int64_t stages);

} // namespace pipec::pipe

#endif // PIPEC_PASSES_PARTITION_PARTITIONPLAN_H
