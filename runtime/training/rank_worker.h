// Follows the action list of one rank for one part of a step.
#ifndef PIPEC_RUNTIME_TRAINING_RANK_WORKER_H
#define PIPEC_RUNTIME_TRAINING_RANK_WORKER_H

#include "runtime/training/train_stage.h"
#include "runtime/transport/transport.h"

#include <optional>

namespace pipec {

using TrainStages = std::vector<std::unique_ptr<TrainStage>>;

/// For each stage the most microbatches that hold a part of a context at once
/// when the lists run in order: from the first value that arrives to B or to
/// the last backward.
std::vector<ContextCounts> contextsNeeded(const Package::Impl &package);

/// For each action of a list the compute action whose context is let go after
/// it: once what that made has been sent.
std::vector<std::optional<size_t>> releases(const ScheduleList &list);

/// Thread rule: one thread at a time. References outlive it.
class RankWorker {
public:
  /// `channels`: by transfer, null between stages of one rank.
  RankWorker(const Package::Impl &package, size_t rank, Device &device,
             Stream &stream, TrainStages &stages,
             const std::vector<std::unique_ptr<Channel>> &channels)
      : package(package), schedule(package.training->schedule), rank(rank),
        device(device), stream(stream), stages(stages), channels(channels),
        releasedAfter(releases(schedule.lists[rank])) {}

  /// Nothing is queued any more when it returns, whatever it returns.
  Status run(const Feed &feed, const RunControl &control);

  /// Of the last run: (stage, microbatch) pairs that held a context at once, at
  /// most, and bytes of contexts.
  int64_t peakLive() const { return peak; }
  uint64_t peakBytes() const { return peakOfBytes; }

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
  Status release(size_t index);
  void notePeaks();

  const Package::Impl &package;
  const Schedule &schedule;
  const size_t rank;
  Device &device;
  Stream &stream;
  TrainStages &stages;
  const std::vector<std::unique_ptr<Channel>> &channels;
  std::vector<bool> sent; // beside the list: done before its turn
  // By action of the list: the compute action whose part of a context is free
  // after it, or none.
  std::vector<std::optional<size_t>> releasedAfter;
  int64_t peak = 0;
  uint64_t peakOfBytes = 0;
};

} // namespace pipec

#endif
