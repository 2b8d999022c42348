// Whether infinities that came in may be what a step's numbers failed of.
#ifndef PIPEC_RUNTIME_EXECUTOR_INFINITIES_H
#define PIPEC_RUNTIME_EXECUTOR_INFINITIES_H

#include "pipec/status.h"
#include "pipec/tensor.h"

namespace pipec {

/// The error of the numeric check, with what of `tensors` holds an infinity as
/// its likely cause: by itself that is none, a mask may be of infinities. Keys
/// say what and which, "input 'x'". Any other status stays as it is.
Status withInfinities(const Status &status, const TensorMap &tensors);

/// Tensors under "input 'NAME'" for each.
TensorMap asInputs(const TensorMap &batch);

} // namespace pipec

#endif
