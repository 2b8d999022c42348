// Outputs against expected ones: what `pipec run --expect` prints.
#ifndef PIPEC_TOOLS_PIPEC_COMPARE_H
#define PIPEC_TOOLS_PIPEC_COMPARE_H

#include "pipec/tensor.h"

namespace pipec::tool {

struct Tolerance {
  double absolute = 1e-5, relative = 1e-4;
};

/// A line per expected tensor with the largest difference. An element passes
/// within absolute + relative * |expected|; NaN equals NaN, integers and bools
/// must be equal. Missing or differing tensors make an error.
StatusOr<std::string> compareOutputs(const TensorMap &got,
                                     const TensorMap &expected,
                                     const Tolerance &tolerance);

} // namespace pipec::tool

#endif // PIPEC_TOOLS_PIPEC_COMPARE_H
