// Proves a schedule before anything runs.
#ifndef PIPEC_RUNTIME_SCHEDULE_VERIFY_H
#define PIPEC_RUNTIME_SCHEDULE_VERIFY_H

#include "runtime/schedule/memory_count.h"

namespace pipec {

struct VerifyOptions {
  int64_t maxLive = 0; // (stage, microbatch) pairs a rank; 0: any number
  std::vector<StageMemory> memory; // one a stage, or empty for units
  double maxMemory = 0;            // a rank, in the units of `memory`; 0: any
  /// A send blocks until it is received. False: it never does, and what one
  /// rank sends another arrives in that order.
  bool sendsBlock = true;
};

struct ScheduleReport {
  /// Every stage's backwards are in ascending microbatch order. Where they are
  /// not, weight gradients have to be held back until their turn.
  bool ascending = true;
  std::vector<int64_t> peakLive;  // a rank
  std::vector<double> peakMemory; // a rank, in the units of `memory`
};

/// Complete: each stage runs F once a microbatch, and each half of its backward
/// work; each edge between ranks has one send and one receive a microbatch.
/// Ordered: whatever an action needs comes before it. Free of deadlock: the
/// lists run through although a send blocks until it is received (or in the
/// order in which it was sent, without `sendsBlock`). Within the
/// limits. A pair that overlaps is a Forward and a backward action of
/// something else.
///
/// Errors name rank, action, stage and microbatch; one over a limit is
/// ResourceExhausted, any other InvalidArgument.
StatusOr<ScheduleReport> verifySchedule(const Schedule &schedule,
                                        const StageGraph &graph,
                                        const VerifyOptions &options = {});

/// The part of it that everything else rests on: all numbers are in range, each
/// action is on its stage's rank, sends go along edges, pairs are pairs.
Status checkShape(const Schedule &schedule, const StageGraph &graph);

} // namespace pipec

#endif // PIPEC_RUNTIME_SCHEDULE_VERIFY_H
