// Shared by the generators, private to the phase: fills a rank's list and
// counts microbatches, which ascend in every list of ours.
#ifndef PIPEC_PASSES_SCHEDULE_GENERATORS_H
#define PIPEC_PASSES_SCHEDULE_GENERATORS_H

#include "runtime/schedule/schedule.h"

#include <algorithm>
#include <deque>

namespace pipec {

/// Each call appends the stage's next microbatch of its kind.
class RankBuilder {
public:
  RankBuilder(ScheduleList &list, int64_t stages)
      : list(list), nextForward(static_cast<size_t>(stages)),
        nextInput(nextForward), nextWeight(nextForward) {}

  void forward(int64_t stage) {
    add(ScheduleAction::Kind::Forward, stage, nextForward);
  }
  void backward(int64_t stage) {
    ++nextWeight[static_cast<size_t>(stage)];
    add(ScheduleAction::Kind::Backward, stage, nextInput);
  }
  /// Its weight gradient becomes the youngest that is pending.
  void input(int64_t stage) {
    pending.push_back(stage);
    add(ScheduleAction::Kind::BackwardInput, stage, nextInput);
  }
  /// The oldest that is pending, if there is one.
  void weight() {
    if (pending.empty())
      return;
    add(ScheduleAction::Kind::BackwardWeight, pending.front(), nextWeight);
    pending.pop_front();
  }
  /// The oldest of `stage`, if one is pending.
  void weight(int64_t stage) {
    auto found = std::find(pending.begin(), pending.end(), stage);
    if (found == pending.end())
      return;
    pending.erase(found);
    add(ScheduleAction::Kind::BackwardWeight, stage, nextWeight);
  }
  void overlap(int64_t forwardStage, int64_t backwardStage) {
    forward(forwardStage);
    list.back().overlapsNext = true;
    backward(backwardStage);
  }
  bool hasPending() const { return !pending.empty(); }
  int64_t forwards(int64_t stage) const {
    return nextForward[static_cast<size_t>(stage)];
  }

private:
  void add(ScheduleAction::Kind kind, int64_t stage,
           std::vector<int64_t> &next) {
    list.push_back({kind, stage, next[static_cast<size_t>(stage)]++});
  }

  ScheduleList &list;
  std::vector<int64_t> nextForward, nextInput, nextWeight;
  std::deque<int64_t> pending; // stages
};

// Each fills the lists of a schedule whose placement, stages and microbatches
// are set and checked.
void fillBreadthFirst(Schedule &schedule);
void fillInterleaved(Schedule &schedule);
void fillInterleavedZeroBubble(Schedule &schedule);
void fillZeroBubbleV(Schedule &schedule);
void fillDualPipeV(Schedule &schedule);

} // namespace pipec

#endif // PIPEC_PASSES_SCHEDULE_GENERATORS_H
