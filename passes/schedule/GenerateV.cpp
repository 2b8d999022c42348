// zb-v (arXiv 2401.10241, section 6) and dualpipe-v (DeepSeek's DualPipeV), as
// torch defines both: rank r holds stages r and 2p - 1 - r, so the loss is made
// on rank 0 and the turn in the middle needs no message.
//
//   zb-v, 2 ranks, 3 microbatches
//   rank 0: 0F0 0F1 0F2 3F0 3I0 3W0 3F1 3I1 3W1 0I0 0W0 3F2 3I2 3W2 0I1 0W1 ...
//   rank 1: -   1F0 2F0 1F1 2F1 2I0 2W0 1F2 1I0 1W0 2F2 2I1 2W1 1I1 2I2 1I2 ...
//
// In: placement in a V; out: lists. The text names a rank's first stage 0 and
// its second 1, as the papers do: F0, I1 and so on.
// Tests: test/unit/passes/schedule/GenerateTest.cpp, VectorsTest.cpp.
#include "passes/schedule/Generators.h"

namespace pipec {
namespace {

/// One rank's view of the V.
struct Arms {
  int64_t ranks;
  int64_t rank;
  int64_t down; // stage "0" of the text
  int64_t up;   // stage "1"

  Arms(const Schedule &schedule, int64_t rank)
      : ranks(schedule.ranks()), rank(rank), down(rank),
        up(schedule.stages - 1 - rank) {}
};

void inputAndWeight(RankBuilder &builder, int64_t stage) {
  builder.input(stage);
  builder.weight(stage);
}

void fillZeroBubbleVRank(RankBuilder &builder, const Arms &arms,
                         int64_t microbatches) {
  for (int64_t i = 0; i < 2 * (arms.ranks - arms.rank) - 1; ++i)
    builder.forward(arms.down);
  for (int64_t i = 0; i < arms.rank; ++i) {
    builder.forward(arms.up);
    builder.forward(arms.down);
  }
  for (int64_t i = 0; i < arms.ranks - arms.rank; ++i) {
    builder.forward(arms.up);
    inputAndWeight(builder, arms.up);
  }
  // Steady: F0 I0 W0 F1 I1 W1 until all forwards are through.
  while (builder.forwards(arms.up) < microbatches) {
    if (builder.forwards(arms.down) < microbatches)
      builder.forward(arms.down);
    inputAndWeight(builder, arms.down);
    builder.forward(arms.up);
    inputAndWeight(builder, arms.up);
  }
  // From here weight gradients wait: the input gradients are what others need.
  for (int64_t i = 0; i < arms.rank; ++i) {
    builder.input(arms.down);
    builder.input(arms.up);
  }
  for (int64_t i = 0; i < arms.ranks - arms.rank; ++i)
    inputAndWeight(builder, arms.down);
  for (int64_t i = 0; i < arms.rank; ++i)
    builder.weight(arms.up);
  while (builder.hasPending())
    builder.weight();
}

void inputOrBoth(RankBuilder &builder, int64_t stage, bool inputOnly) {
  if (inputOnly)
    builder.input(stage);
  else
    builder.backward(stage);
}

void startDualPipeV(RankBuilder &builder, const Arms &arms) {
  const int64_t below = arms.ranks - arms.rank - 1;
  for (int64_t i = 0; i < 2 * below; ++i)
    builder.forward(arms.down);
  for (int64_t i = 0; i < arms.rank + 1; ++i) {
    builder.forward(arms.down);
    builder.forward(arms.up);
  }
  for (int64_t i = 0; i < below; ++i) {
    inputAndWeight(builder, arms.up);
    builder.forward(arms.up);
  }
}

/// Forwards and backwards of opposite directions in pairs.
void pairDualPipeV(RankBuilder &builder, const Arms &arms, int64_t pairs) {
  const int64_t below = arms.ranks - arms.rank - 1;
  for (int64_t i = 0; i < pairs; ++i) {
    // On the last rank nothing may run beside the very first backward: its
    // result would leave later, and everybody waits for it.
    if (i == 0 && below == 0) {
      builder.forward(arms.down);
      builder.backward(arms.up);
    } else {
      builder.overlap(arms.down, arms.up);
    }
    builder.overlap(arms.up, arms.down);
  }
  for (int64_t i = 0; i < below; ++i) {
    builder.backward(arms.up);
    builder.overlap(arms.up, arms.down);
  }
}

/// The rest of the backwards; the second half leaves its weight gradients for
/// the waits at the end.
void finishDualPipeV(RankBuilder &builder, const Arms &arms) {
  const int64_t below = arms.ranks - arms.rank - 1;
  const int64_t last = arms.rank + 1;
  // Counted in single backwards, up and down by turns.
  const int64_t firstSplit = last / 2 * 2 + (arms.rank % 2 == 0 ? 1 : 0);
  for (int64_t i = 0; i < 2 * last; ++i)
    inputOrBoth(builder, i % 2 == 0 ? arms.up : arms.down, i >= firstSplit);
  for (int64_t i = 0; i < below; ++i) {
    builder.weight();
    builder.input(arms.down);
  }
  while (builder.hasPending())
    builder.weight();
}

} // namespace

void fillZeroBubbleV(Schedule &schedule) {
  // The phases need 2p - 1 microbatches; where there are fewer, those that do
  // not exist are left out again.
  const int64_t planned =
      std::max(schedule.microbatches, 2 * schedule.ranks() - 1);
  for (int64_t rank = 0; rank < schedule.ranks(); ++rank) {
    ScheduleList &list = schedule.lists[static_cast<size_t>(rank)];
    RankBuilder builder(list, schedule.stages);
    fillZeroBubbleVRank(builder, Arms(schedule, rank), planned);
    list.erase(std::remove_if(list.begin(), list.end(),
                              [&](const ScheduleAction &action) {
                                return action.microbatch >=
                                       schedule.microbatches;
                              }),
               list.end());
  }
}

void fillDualPipeV(Schedule &schedule) {
  for (int64_t rank = 0; rank < schedule.ranks(); ++rank) {
    RankBuilder builder(schedule.lists[static_cast<size_t>(rank)],
                        schedule.stages);
    Arms arms(schedule, rank);
    startDualPipeV(builder, arms);
    pairDualPipeV(builder, arms,
                  schedule.microbatches - schedule.stages + rank + 1);
    finishDualPipeV(builder, arms);
  }
}

} // namespace pipec
