// All stages of a package on one device, with a worker thread each.
#ifndef PIPEC_RUNTIME_EXECUTOR_PIPELINE_H
#define PIPEC_RUNTIME_EXECUTOR_PIPELINE_H

#include "runtime/executor/stage_worker.h"

#include <condition_variable>
#include <thread>

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
  void work(size_t stage);
  Status runStage(size_t stage);

  Package package;
  std::vector<std::unique_ptr<Channel>> channels; // by transfer
  std::vector<std::unique_ptr<StageExecutor>> stages;
  std::vector<StageWorker> workers; // by stage
  std::unique_ptr<RunControl> control;
  std::vector<std::thread> threads;

  // Hand-over between run() and the threads, under the mutex.
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t generation = 0; // of the run in progress
  size_t busy = 0;         // threads that have not finished it
  bool quit = false;
  RunContext *context = nullptr;
};

} // namespace pipec

#endif
