// The part of the verifier that runs the lists, private to the phase.
#ifndef PIPEC_PASSES_SCHEDULE_VERIFYORDER_H
#define PIPEC_PASSES_SCHEDULE_VERIFYORDER_H

#include "passes/schedule/StageGraph.h"

namespace pipec {

/// Requires checkShape and completeness.
Status checkOrder(const Schedule &schedule, const StageGraph &graph);

} // namespace pipec

#endif // PIPEC_PASSES_SCHEDULE_VERIFYORDER_H
