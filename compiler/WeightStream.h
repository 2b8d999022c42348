// Copies one weight's bytes into a safetensors file, a piece at a time.
#ifndef PIPEC_COMPILER_WEIGHTSTREAM_H
#define PIPEC_COMPILER_WEIGHTSTREAM_H

#include "compiler/Compiler.h"
#include "runtime/base/safetensors.h"

namespace pipec {

/// Writes the weight of `type` that lies at `source`, its axes permuted as
/// `source` says. Never holds more than a few megabytes.
Status streamWeight(const TensorType &type, const WeightSource &source,
                    SafetensorsWriter &writer);

} // namespace pipec

#endif // PIPEC_COMPILER_WEIGHTSTREAM_H
