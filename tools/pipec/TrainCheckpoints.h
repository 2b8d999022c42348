// The checkpoints of one run of `pipec train`: where it starts, what it leaves.
#ifndef PIPEC_TOOLS_PIPEC_TRAINCHECKPOINTS_H
#define PIPEC_TOOLS_PIPEC_TRAINCHECKPOINTS_H

#include "compiler/Options.h"
#include "pipec/trainer.h"
#include "runtime/base/file_lock.h"
#include "runtime/base/temporaries.h"

#include <CLI/CLI.hpp>

namespace pipec::tool {

struct CheckpointArguments {
  std::string folder;
  int64_t every = 0; // steps; 0: only after the last one
  int64_t keep = 0;  // checkpoints; 0: all
  bool resume = false;

  void addTo(CLI::App &command);
};

/// Order of calls: open, then resume, then afterStep for each step.
/// Without --checkpoint all of them do nothing. Thread rule: one thread.
class TrainCheckpoints {
public:
  TrainCheckpoints(const CheckpointArguments &arguments, Reporter report)
      : arguments(arguments), report(std::move(report)) {}

  /// Looks at the folder, before any work, and locks it against other runs.
  /// Refuses one with checkpoints that are neither to be resumed nor to be
  /// overwritten.
  Status open(bool overwrite);
  /// Whether there is a checkpoint to go on from.
  bool isResumed() const { return !start.empty(); }
  int64_t firstStep() const { return first; }

  Status resume(Trainer &trainer, const CheckpointNotes &notes) const;
  /// After `done` of `steps` steps. Writes a checkpoint when it is time. Those
  /// of a run that this one replaces go when the first is there.
  Status afterStep(Trainer &trainer, int64_t done, int64_t steps,
                   const CheckpointNotes &notes);

private:
  Status lockFolder();
  Status removeReplaced(int64_t done);

  const CheckpointArguments &arguments;
  Reporter report;
  std::unique_ptr<MadeFolder> made; // goes again where nothing is in it
  std::unique_ptr<FileLock> lock;
  std::vector<int64_t> replaced; // the steps of another run
  std::string start;             // the checkpoint to go on from
  int64_t first = 0;
};

} // namespace pipec::tool

#endif // PIPEC_TOOLS_PIPEC_TRAINCHECKPOINTS_H
