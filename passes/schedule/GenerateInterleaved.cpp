// 1f1b, interleaved-1f1b (arXiv 2104.04473), zb-h1 (arXiv 2401.10241) and
// interleaved-zb (torch's ZB1P): a forward, then a backward, by turns.
//
//   1f1b, 2 ranks, 3 microbatches
//   rank 0: 0F0 0F1 -   -   0B0 .   0F2 0B1 .   -   0B2 .
//   rank 1: -   1F0 1B0 .   1F1 1B1 .   1F2 1B2 .   -   -
//   zb-h1, 2 ranks, 3 microbatches
//   rank 0: 0F0 0F1 -   0I0 0W0 0F2 0I1 0W1 0I2 0W2
//   rank 1: -   1F0 1I0 1F1 1I1 1W0 1F2 1I2 1W1 1W2
//
// In: placement in a loop, v stages a rank; out: lists. Microbatches go in
// groups of about one a rank; a group passes through all stages of the rank
// before the next begins. Torch needs groups of equal size; here they may
// differ by one, larger first, so that any number of microbatches works: the
// warm-up is counted for the largest group, and a smaller one needs less.
// With one stage a rank these are 1f1b and zb-h1, whose warm-up grows by one
// forward a rank instead of two, at the same length and less memory.
// Tests: test/unit/passes/schedule/GenerateTest.cpp, VectorsTest.cpp.
#include "passes/schedule/Generators.h"

#include <algorithm>

namespace pipec {
namespace {

/// The rank's own stage, counted from 0, of each forward; a backward's mirrors
/// it.
struct Turns {
  std::vector<int64_t> chunks;
  int64_t largestGroup = 0;
};

Turns takeTurns(const Schedule &schedule, int64_t chunks) {
  int64_t rounds =
      std::max<int64_t>(1, schedule.microbatches / schedule.ranks());
  int64_t larger = schedule.microbatches % rounds;
  Turns turns;
  for (int64_t round = 0; round < rounds; ++round) {
    int64_t size = schedule.microbatches / rounds + (round < larger ? 1 : 0);
    turns.largestGroup = std::max(turns.largestGroup, size);
    for (int64_t chunk = 0; chunk < chunks; ++chunk)
      turns.chunks.insert(turns.chunks.end(), static_cast<size_t>(size), chunk);
  }
  return turns;
}

void fillRank(Schedule &schedule, int64_t rank, bool zeroBubble) {
  const int64_t ranks = schedule.ranks();
  const int64_t chunks = schedule.stages / ranks;
  const Turns turns = takeTurns(schedule, chunks);
  const int64_t each = static_cast<int64_t>(turns.chunks.size());
  // A rank nearer to the start waits longer for its first gradient. Without
  // weight gradients in between, or with a single stage a rank, one forward a
  // hop covers that.
  const int64_t perHop = zeroBubble || chunks == 1 ? 1 : 2;
  const int64_t warmUp = std::min(each, (chunks - 1) * turns.largestGroup +
                                            perHop * (ranks - 1 - rank));
  RankBuilder builder(schedule.lists[static_cast<size_t>(rank)],
                      schedule.stages);
  for (int64_t turn = 0; turn < each + warmUp; ++turn) {
    if (turn < each)
      builder.forward(turns.chunks[static_cast<size_t>(turn)] * ranks + rank);
    const int64_t back = turn - warmUp;
    if (back < 0)
      continue;
    const int64_t chunk = chunks - 1 - turns.chunks[static_cast<size_t>(back)];
    if (!zeroBubble) {
      builder.backward(chunk * ranks + rank);
      continue;
    }
    // Rank r may put off r weight gradients: as many activations stay alive as
    // on rank 0, and they fill the wait for gradients at the end.
    builder.input(chunk * ranks + rank);
    if (back >= rank)
      builder.weight();
  }
  while (builder.hasPending())
    builder.weight();
}

} // namespace

void fillInterleaved(Schedule &schedule) {
  for (int64_t rank = 0; rank < schedule.ranks(); ++rank)
    fillRank(schedule, rank, false);
}

void fillInterleavedZeroBubble(Schedule &schedule) {
  for (int64_t rank = 0; rank < schedule.ranks(); ++rank)
    fillRank(schedule, rank, true);
}

} // namespace pipec
