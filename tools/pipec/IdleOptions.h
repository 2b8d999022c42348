// Options of `pipec train` that would do nothing beside the others.
#ifndef PIPEC_TOOLS_PIPEC_IDLEOPTIONS_H
#define PIPEC_TOOLS_PIPEC_IDLEOPTIONS_H

#include "tools/pipec/TrainArguments.h"

namespace pipec::tool {

/// An error that names the first of them, and what it goes with. Those of the
/// loss are for trainingOptions to check.
Status checkIdleOptions(const TrainArguments &arguments);

/// What may stay on the line but does nothing, or less than it seems, in a run
/// of `steps` steps: a line each.
std::vector<std::string> idleRemarks(const TrainArguments &arguments,
                                     int64_t steps);

} // namespace pipec::tool

#endif // PIPEC_TOOLS_PIPEC_IDLEOPTIONS_H
