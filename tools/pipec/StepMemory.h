// What --memory is held against, for the compiler that recomputes by it.
#ifndef PIPEC_TOOLS_PIPEC_STEPMEMORY_H
#define PIPEC_TOOLS_PIPEC_STEPMEMORY_H

#include "compiler/Compiler.h"
#include "pipec/trainer.h"

namespace pipec::tool {

/// What a step of `model` takes with `options`, whose limit is that of
/// --memory: the count of the trainer that will run it.
StatusOr<StepMemory> countStepMemory(const CompiledModel &model,
                                     const TrainerOptions &options);

} // namespace pipec::tool

#endif // PIPEC_TOOLS_PIPEC_STEPMEMORY_H
