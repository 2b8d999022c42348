// Sends and receives for a schedule of compute actions.
#ifndef PIPEC_PASSES_SCHEDULE_COMMUNICATION_H
#define PIPEC_PASSES_SCHEDULE_COMMUNICATION_H

#include "passes/schedule/Simulate.h"

namespace pipec {

/// Adapts the backward work (adaptBackward) and inserts a send and a receive
/// for each edge between stages on different ranks and each microbatch.
///
/// One order of all events underlies all lists: that of a simulation in which
/// values arrive as soon as they are made, with `times` (one a stage; units by
/// default). A send follows the action that makes its values, its receive
/// stands where the other rank is at that moment, so the lists run through even
/// where a send blocks until it is received. Times near the real ones put
/// receives where they are least in the way; any times give correct lists.
///
/// An error where the compute actions wait for each other in a circle, or send
/// and receive already.
Status addCommunication(Schedule &schedule, const StageGraph &graph,
                        const std::vector<StageTimes> &times = {});

/// Takes all sends and receives out again, as for a schedule from CSV that
/// knows the neighbours only.
void removeCommunication(Schedule &schedule);

} // namespace pipec

#endif // PIPEC_PASSES_SCHEDULE_COMMUNICATION_H
