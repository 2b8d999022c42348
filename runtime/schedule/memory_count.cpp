// The memory steps of a rank. In: its actions, one by one; out: what is alive.
//
//   after F: + M_B    after I: + M_W - M_B    after W: - M_W    after B: - M_B
//
// A stage with half the backward work lets go at its only backward action, one
// with none at its Forward. Tests: VerifyTest.cpp, SimulateTest.cpp and
// VectorsTest.cpp in test/unit/passes/schedule.
#include "runtime/schedule/memory_count.h"

namespace pipec {

using Kind = ScheduleAction::Kind;

MemoryCount::MemoryCount(const Schedule &schedule, const StageGraph &graph,
                         const std::vector<StageMemory> &memory)
    : graph(graph), memory(memory),
      nextInput(static_cast<size_t>(schedule.stages)), nextWeight(nextInput),
      early(nextInput.size()) {}

void MemoryCount::run(const ScheduleAction &action) {
  switch (action.kind) {
  case Kind::Forward:
    if (graph.workOf(action.stage) == BackwardWork::None)
      return;
    ++pairs;
    amount +=
        memory.empty() ? 1 : memory[static_cast<size_t>(action.stage)].forward;
    return;
  case Kind::Backward:
    return changePhase(action, true, true);
  case Kind::BackwardInput:
    return changePhase(action, true, false);
  case Kind::BackwardWeight:
    return changePhase(action, false, true);
  default:
    return;
  }
}

void MemoryCount::changePhase(const ScheduleAction &action, bool input,
                              bool weight) {
  const size_t stage = static_cast<size_t>(action.stage);
  const StageMemory each = memory.empty() ? StageMemory() : memory[stage];
  const BackwardWork work = graph.workOf(action.stage);
  const bool last = weight || !hasWeightWork(work);
  if (input) {
    inOrder &= action.microbatch == nextInput[stage]++;
    amount += (last ? 0 : each.weight) - each.forward;
  } else {
    amount -= hasInputWork(work) ? each.weight : each.forward;
  }
  if (last)
    --pairs;
  if (weight)
    takeTurn(action.stage, action.microbatch);
}

void MemoryCount::takeTurn(int64_t stage, int64_t microbatch) {
  const size_t s = static_cast<size_t>(stage);
  const double each = memory.empty() ? 0 : memory[s].gradient;
  if (microbatch != nextWeight[s]) {
    inOrder = false;
    if (early[s].size() <= static_cast<size_t>(microbatch))
      early[s].resize(static_cast<size_t>(microbatch) + 1);
    early[s][static_cast<size_t>(microbatch)] = true;
    amount += each;
    return;
  }
  for (size_t next = static_cast<size_t>(++nextWeight[s]);
       next < early[s].size() && early[s][next]; ++next) {
    amount -= each;
    ++nextWeight[s];
  }
}

} // namespace pipec
