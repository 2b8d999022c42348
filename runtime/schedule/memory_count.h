// What a rank's list keeps alive, action by action.
#ifndef PIPEC_RUNTIME_SCHEDULE_MEMORY_COUNT_H
#define PIPEC_RUNTIME_SCHEDULE_MEMORY_COUNT_H

#include "runtime/schedule/stage_graph.h"

namespace pipec {

/// Of one microbatch in one stage, in bytes or any unit: what is held from F to
/// the input gradients (M_B), from there to the weight gradients (M_W), and the
/// weight gradients themselves, which wait for their turn where a schedule does
/// not run them in ascending microbatch order.
struct StageMemory {
  double forward = 1;
  double weight = 1;
  double gradient = 0;
};

/// Follows one rank. Requires actions that are complete and in order.
class MemoryCount {
public:
  /// `memory` is one a stage, or empty for units; must outlive the count.
  MemoryCount(const Schedule &schedule, const StageGraph &graph,
              const std::vector<StageMemory> &memory);

  /// The state after `action`.
  void run(const ScheduleAction &action);

  int64_t live() const { return pairs; } // (stage, microbatch) pairs
  double held() const { return amount; }
  /// Every stage's backwards, of inputs and of weights, came in ascending
  /// microbatch order so far.
  bool ascending() const { return inOrder; }

private:
  void changePhase(const ScheduleAction &action, bool input, bool weight);
  void takeTurn(int64_t stage, int64_t microbatch);

  const StageGraph &graph;
  const std::vector<StageMemory> &memory;
  int64_t pairs = 0;
  double amount = 0;
  bool inOrder = true;
  std::vector<int64_t> nextInput, nextWeight;
  std::vector<std::vector<bool>> early; // by stage: weight gradients that wait
};

} // namespace pipec

#endif // PIPEC_RUNTIME_SCHEDULE_MEMORY_COUNT_H
