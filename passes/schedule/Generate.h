// Schedules by name, and what each asks of stages, ranks and microbatches.
#ifndef PIPEC_PASSES_SCHEDULE_GENERATE_H
#define PIPEC_PASSES_SCHEDULE_GENERATE_H

#include "runtime/schedule/stage_graph.h"

namespace pipec {

/// gpipe, 1f1b, interleaved-1f1b, looped-bfs, zb-h1, interleaved-zb, zb-v,
/// dualpipe-v.
std::vector<std::string> scheduleNames();

/// The compute actions of all ranks, verified by construction for a chain of
/// stages and for any graph whose edges go as StageGraph::verify asks. Every
/// stage runs its backwards in ascending microbatch order.
///
/// `ranks` 0 takes one rank a stage, for the interleaved ones, looped-bfs and
/// the V-shaped ones half as many; where an odd number of stages is dealt out,
/// the most ranks that share it evenly with more than one stage each, or one
/// rank a stage where there is no such number. Errors say what would work.
StatusOr<Schedule> makeSchedule(const std::string &name, int64_t stages,
                                int64_t ranks, int64_t microbatches);

/// Takes out the backward actions that the stages of `graph` have no work for:
/// what is left of a Backward is a BackwardInput or BackwardWeight. Leaves
/// anything else as it is; doing it twice changes nothing.
void adaptBackward(Schedule &schedule, const StageGraph &graph);

} // namespace pipec

#endif // PIPEC_PASSES_SCHEDULE_GENERATE_H
