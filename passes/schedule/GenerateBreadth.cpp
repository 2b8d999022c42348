// gpipe and looped-bfs (arXiv 2211.05953): all forwards, then all backwards.
//
//   looped-bfs, 2 ranks, 4 stages, 2 microbatches
//   rank 0: 0F0 0F1 2F0 2F1 -   -   -   2B0 .   2B1 .   0B0 .   0B1 .
//   rank 1: -   1F0 1F1 3F0 3F1 3B0 .   3B1 .   1B0 .   1B1 .   -   -
//
// In: placement in a loop; out: lists. The backwards ascend too, where torch's
// descend: the length and the peak are the same, and weight gradients add up in
// one order under every schedule. gpipe is the case of one stage a rank.
// Tests: test/unit/passes/schedule/GenerateTest.cpp, VectorsTest.cpp.
#include "passes/schedule/Generators.h"

namespace pipec {

void fillBreadthFirst(Schedule &schedule) {
  for (int64_t rank = 0; rank < schedule.ranks(); ++rank) {
    RankBuilder builder(schedule.lists[static_cast<size_t>(rank)],
                        schedule.stages);
    for (int64_t stage = rank; stage < schedule.stages;
         stage += schedule.ranks())
      for (int64_t k = 0; k < schedule.microbatches; ++k)
        builder.forward(stage);
    for (int64_t stage = schedule.stages - schedule.ranks() + rank; stage >= 0;
         stage -= schedule.ranks())
      for (int64_t k = 0; k < schedule.microbatches; ++k)
        builder.backward(stage);
  }
}

} // namespace pipec
