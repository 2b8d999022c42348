// Follows one stage's action list for one run.
#ifndef PIPEC_RUNTIME_EXECUTOR_STAGE_WORKER_H
#define PIPEC_RUNTIME_EXECUTOR_STAGE_WORKER_H

#include "runtime/executor/actions.h"
#include "runtime/executor/output_merger.h"
#include "runtime/executor/stage_executor.h"

namespace pipec {

/// One run of a session, shared by its workers. Everything is filled before
/// they start; a merger is then used by the one stage that makes its output.
struct RunContext {
  BatchPlan plan;
  std::vector<Tensor> inputs;        // by graph input, whole batch
  std::vector<OutputMerger> mergers; // by graph output
  std::vector<Tensor>
      hostCopies; // by graph output, where the device needs them
  std::vector<ActionList> actions; // by stage
  std::function<void(int64_t, int64_t)> progress;
};

/// Thread rule: used by one thread at a time. References outlive it.
class StageWorker {
public:
  /// `channels`: by transfer, null where another stage's.
  StageWorker(const Package::Impl &package, StageExecutor &stage,
              std::vector<Channel *> channels)
      : package(package), stage(stage), channels(std::move(channels)) {}

  /// Runs all actions of this stage. Errors are the stage's own, or Cancelled
  /// when another stage ended the run.
  Status run(RunContext &context, const RunControl &control);

private:
  Status perform(const Action &action, RunContext &context,
                 const RunControl &control);
  Status bindGraphInputs(const RunContext &context, int64_t microbatch);
  Status emit(RunContext &context, const Action &action);

  const Package::Impl &package;
  StageExecutor &stage;
  std::vector<Channel *> channels;
};

} // namespace pipec

#endif
