// All stages of a package on one device, with a worker thread each.
#ifndef PIPEC_RUNTIME_EXECUTOR_PIPELINE_H
#define PIPEC_RUNTIME_EXECUTOR_PIPELINE_H

#include "runtime/executor/stage_worker.h"
#include "runtime/executor/worker_team.h"

namespace pipec {

/// What a Session holds; the device and the transport are handed in, so that
/// another kind is another argument. Thread rule: externally synchronised.
class Pipeline {
public:
  /// Keeps `package`; `device` and `transport` outlive the pipeline.
  static StatusOr<std::unique_ptr<Pipeline>>
  create(const Package &package, const SessionOptions &options, Device &device,
         Transport &transport);
  ~Pipeline();

  StatusOr<TensorMap> run(const TensorMap &inputs, const RunOptions &options);

private:
  explicit Pipeline(const Package &package) : package(package) {}
  StatusOr<std::vector<ChannelSpec>> channelSpecs(int queueCapacity) const;
  Status startWorkers();
  StatusOr<RunContext> prepareRun(const TensorMap &inputs,
                                  const RunOptions &options) const;

  Package package;
  std::vector<std::unique_ptr<Channel>> channels; // by transfer
  std::vector<std::unique_ptr<StageExecutor>> stages;
  std::vector<StageWorker> workers; // by stage
  std::unique_ptr<RunControl> control;
  std::unique_ptr<WorkerTeam> team; // last: ends before what it works on
};

} // namespace pipec

#endif
