// Whether a folder step-<k> is a checkpoint of ours, and nothing else.
#ifndef PIPEC_RUNTIME_CHECKPOINT_OWN_CHECKPOINT_H
#define PIPEC_RUNTIME_CHECKPOINT_OWN_CHECKPOINT_H

#include "pipec/status.h"

#include <cstdint>
#include <string>

namespace pipec {

/// Whether all that lies in `path` is what a checkpoint of step `step` has: a
/// checkpoint.json that says so, and the files that it names. Tensors are not
/// read. An error names what is not: it may be all that a user has of it, so
/// such a folder is never removed. InvalidArgument, Io.
Status checkOwnCheckpoint(const std::string &path, int64_t step);

} // namespace pipec

#endif
