// Follows the action list of one rank for one part of a step.
#ifndef PIPEC_RUNTIME_TRAINING_RANK_WORKER_H
#define PIPEC_RUNTIME_TRAINING_RANK_WORKER_H

#include "runtime/training/train_stage.h"
#include "runtime/transport/transport.h"

namespace pipec {

using TrainStages = std::vector<std::unique_ptr<TrainStage>>;

/// For each stage the most microbatches that hold a context at once when the
/// lists run in order: from the first value that arrives to the last backward.
std::vector<size_t> contextsNeeded(const Package::Impl &package);

/// Thread rule: one thread at a time. References outlive it.
class RankWorker {
public:
  /// `channels`: by transfer, null between stages of one rank.
  RankWorker(const Package::Impl &package, size_t rank, Device &device,
             Stream &stream, TrainStages &stages,
             const std::vector<std::unique_ptr<Channel>> &channels)
      : package(package), schedule(package.training->schedule), rank(rank),
        device(device), stream(stream), stages(stages), channels(channels) {}

  /// Nothing is queued any more when it returns, whatever it returns.
  Status run(const Feed &feed, const RunControl &control);

  /// (stage, microbatch) pairs alive at most, of the last run.
  int64_t peakLive() const { return peak; }

private:
  Status runList(const Feed &feed, const RunControl &control);
  Status perform(size_t index, const Feed &feed, const RunControl &control);
  Status sendWhatFollows(size_t index, const Feed &feed);
  Status compute(ProgramPhase phase, const ScheduleAction &action,
                 const Feed &feed, const RunControl &control);
  Status handOver(ProgramPhase phase, TrainStage &stage, int64_t microbatch,
                  const Feed &feed);
  Status send(const ScheduleAction &action, const Feed &feed);
  Status receive(const ScheduleAction &action, const Feed &feed);
  void end(size_t stage, int64_t microbatch);

  const Package::Impl &package;
  const Schedule &schedule;
  const size_t rank;
  Device &device;
  Stream &stream;
  TrainStages &stages;
  const std::vector<std::unique_ptr<Channel>> &channels;
  std::vector<bool> sent; // beside the list: done before its turn
  int64_t live = 0, peak = 0;
};

} // namespace pipec

#endif
