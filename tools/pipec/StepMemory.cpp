// The compiler's question, the runtime's answer: they know of each other by the
// package alone, which is made in memory here.
// Tests: test/e2e/cli/recompute-auto.test.
#include "tools/pipec/StepMemory.h"

#include "compiler/PackageWriter.h"
#include "runtime/package/files.h"
#include "runtime/training/trainer_access.h"

namespace pipec::tool {

StatusOr<StepMemory> countStepMemory(const CompiledModel &model,
                                     const TrainerOptions &options) {
  PIPEC_ASSIGN_OR_RETURN(auto contents, packageFiles(model));
  const auto files = memoryFiles(std::move(contents));
  PIPEC_ASSIGN_OR_RETURN(const Package package, openPackage(*files));
  PIPEC_ASSIGN_OR_RETURN(TrainingNeed need,
                         TrainerAccess::count(package, options));
  // Nobody knows a package by the name that it has in memory.
  const std::string &message = need.fits.message();
  const std::string prefix = files->root() + ": ";
  if (message.rfind(prefix, 0) == 0)
    need.fits = Status(need.fits.getCode(), message.substr(prefix.size()));
  return StepMemory{std::move(need.stageBytes), std::move(need.fits)};
}

} // namespace pipec::tool
