// Drops backward work that a stage does not have. In: a schedule with or
// without communication; out: the same with fewer or smaller actions. Order is
// kept, so whatever was free of deadlock stays so.
// Tests: test/unit/passes/schedule/CommunicationTest.cpp.
#include "passes/schedule/Generate.h"

namespace pipec {
namespace {

using Kind = ScheduleAction::Kind;

/// What `action` becomes; false where nothing is left of it.
bool adapt(ScheduleAction &action, BackwardWork work) {
  switch (action.kind) {
  case Kind::Backward:
    if (work == BackwardWork::InputOnly)
      action.kind = Kind::BackwardInput;
    if (work == BackwardWork::WeightOnly)
      action.kind = Kind::BackwardWeight;
    return work != BackwardWork::None;
  case Kind::BackwardInput:
    return hasInputWork(work);
  case Kind::BackwardWeight:
    return hasWeightWork(work);
  case Kind::ReduceGradients:
    return hasWeightWork(work);
  default:
    return true;
  }
}

} // namespace

void adaptBackward(Schedule &schedule, const StageGraph &graph) {
  for (ScheduleList &list : schedule.lists) {
    ScheduleList kept;
    kept.reserve(list.size());
    bool paired = false; // the last one kept is the Forward of a pair
    for (ScheduleAction action : list) {
      bool inGraph = action.stage >= 0 && action.stage < graph.stages;
      if (inGraph && !adapt(action, graph.workOf(action.stage))) {
        if (paired)
          kept.back().overlapsNext = false;
        paired = false;
        continue;
      }
      paired = action.overlapsNext;
      kept.push_back(action);
    }
    list = std::move(kept);
  }
}

} // namespace pipec
