// The part of the verifier that runs the lists, private to the phase.
#ifndef PIPEC_RUNTIME_SCHEDULE_VERIFY_ORDER_H
#define PIPEC_RUNTIME_SCHEDULE_VERIFY_ORDER_H

#include "runtime/schedule/stage_graph.h"

namespace pipec {

/// Requires checkShape and completeness. `sendsBlock` as in VerifyOptions.
Status checkOrder(const Schedule &schedule, const StageGraph &graph,
                  bool sendsBlock = true);

} // namespace pipec

#endif // PIPEC_RUNTIME_SCHEDULE_VERIFY_ORDER_H
