// The checkpoints of one run of `pipec train`: where it starts, what it leaves.
#ifndef PIPEC_TOOLS_PIPEC_TRAINCHECKPOINTS_H
#define PIPEC_TOOLS_PIPEC_TRAINCHECKPOINTS_H

#include "compiler/Options.h"
#include "pipec/trainer.h"

#include <CLI/CLI.hpp>

namespace pipec::tool {

struct CheckpointArguments {
  std::string folder;
  int64_t every = 0; // steps; 0: only after the last one
  int64_t keep = 0;  // checkpoints; 0: all
  bool resume = false;

  void addTo(CLI::App &command);
};

/// Order of calls: open, then resume, clear, then afterStep for each step.
/// Without --checkpoint all of them do nothing. Thread rule: one thread.
class TrainCheckpoints {
public:
  TrainCheckpoints(const CheckpointArguments &arguments, Reporter report)
      : arguments(arguments), report(std::move(report)) {}

  /// Looks at the folder, before any work. Refuses one with checkpoints that
  /// are neither to be resumed nor to be overwritten.
  Status open(bool overwrite);
  /// Whether there is a checkpoint to go on from.
  bool isResumed() const { return !start.empty(); }
  int64_t firstStep() const { return first; }

  Status resume(Trainer &trainer, const CheckpointNotes &notes) const;
  /// Removes the checkpoints of a run that this one replaces: a later --resume
  /// must not find them.
  Status clear() const;
  /// After `done` of `steps` steps. Writes a checkpoint when it is time.
  Status afterStep(Trainer &trainer, int64_t done, int64_t steps,
                   const CheckpointNotes &notes) const;

private:
  const CheckpointArguments &arguments;
  Reporter report;
  std::string start; // the checkpoint to go on from
  int64_t first = 0;
};

} // namespace pipec::tool

#endif // PIPEC_TOOLS_PIPEC_TRAINCHECKPOINTS_H
