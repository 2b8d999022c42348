// How long a schedule takes and what it holds, without running it.
#ifndef PIPEC_PASSES_SCHEDULE_SIMULATE_H
#define PIPEC_PASSES_SCHEDULE_SIMULATE_H

#include "runtime/schedule/memory_count.h"

namespace pipec {

/// Seconds, or any unit. A Backward takes the sum of its halves; the only
/// action of a stage without input gradients takes its weight time.
struct StageTimes {
  double forward = 1;
  double backwardInput = 1;
  double backwardWeight = 1;
};

/// A value arrives `transfer` + `latency` after it leaves; the transfers from
/// one rank to another follow each other, latencies overlap.
struct EdgeTimes {
  double transfer = 0;
  double latency = 0;
};

struct SimulationOptions {
  enum class Pairs {
    Together,   // begin when both can, hand on what they made when both ended
    Separately, // one after the other, as if they were no pair
  };
  std::vector<StageTimes> stages;  // one a stage, or empty for units
  std::vector<EdgeTimes> forward;  // one an edge of the graph, or empty
  std::vector<EdgeTimes> gradient; // the same
  std::vector<StageMemory> memory; // one a stage, or empty for units
  Pairs pairs = Pairs::Together;
  /// How much of the shorter action of a pair runs beside the longer one: 0,
  /// none, they take the sum of their times; 1, all of it.
  double pairOverlap = 0;
};

struct Simulation {
  struct Interval {
    double start = 0;
    double end = 0;
  };
  /// When each action of each rank runs. Sends take no time of the rank, a
  /// receive lasts while the rank waits.
  std::vector<std::vector<Interval>> actions;
  std::vector<double> span; // a rank: from its first compute to its last
  std::vector<double> work; // a rank: what it computes
  double makespan = 0;      // from the start to the last end
  double ideal = 0;         // the work of the busiest rank
  /// Two meanings of "bubble": the zero-bubble paper's, by the longest span,
  /// and the one by the whole step. Divide by `ideal` or by the whole for a
  /// rate.
  double bubble = 0;              // longest span - ideal
  double makespanBubble = 0;      // makespan - ideal
  std::vector<int64_t> peakLive;  // a rank: (stage, microbatch) pairs
  std::vector<double> peakMemory; // a rank: in the units of `memory`
};

/// Ranks run their lists in order, each action as soon as what it needs is
/// there. Works before and after addCommunication. Errors: times that do not
/// fit the graph, or a schedule that gets stuck.
StatusOr<Simulation> simulateSchedule(const Schedule &schedule,
                                      const StageGraph &graph,
                                      const SimulationOptions &options = {});

/// A row a rank, a column a `unit` of time: each compute action in the column
/// in which it begins, "." where it goes on, "-" where the rank waits. Columns
/// beyond `maxColumns` are left out.
std::string dumpTimeline(const Schedule &schedule, const Simulation &simulation,
                         double unit = 1, size_t maxColumns = 400);

} // namespace pipec

#endif // PIPEC_PASSES_SCHEDULE_SIMULATE_H
