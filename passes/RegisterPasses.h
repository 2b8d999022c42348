// All passes and pipelines of the compiler, for tools that take them by name.
#ifndef PIPEC_PASSES_REGISTERPASSES_H
#define PIPEC_PASSES_REGISTERPASSES_H

#include "passes/differentiate/Passes.h"
#include "passes/import/Passes.h"
#include "passes/lower/Passes.h"
#include "passes/partition/Passes.h"

namespace pipec::pipe {

inline void registerAllPipecPasses() {
  registerPipecImportPasses();
  registerImportPipeline();
  registerPipecPartitionPasses();
  registerPipecDifferentiatePasses();
  registerPipecLowerPasses();
}

} // namespace pipec::pipe

#endif // PIPEC_PASSES_REGISTERPASSES_H
