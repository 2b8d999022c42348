// The folders step-<k> of a checkpoint directory: found, written under another
// name, given their own in one step, removed.
#ifndef PIPEC_RUNTIME_CHECKPOINT_STEP_FOLDER_H
#define PIPEC_RUNTIME_CHECKPOINT_STEP_FOLDER_H

#include "pipec/status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pipec {

/// The one file that every checkpoint has.
constexpr const char *kCheckpointFile = "checkpoint.json";

/// DIR/step-<k>.
std::string stepPath(const std::string &dir, int64_t step);

/// k of a folder's name "step-<k>", as we spell it; -1 of others.
int64_t stepOfName(const std::string &name);

/// The steps of the folders step-<k> in `dir`, ascending, also of those that
/// hold no checkpoint. A `dir` that does not exist has none. Io.
StatusOr<std::vector<int64_t>> listSteps(const std::string &dir);

/// Whether DIR/step-<k> has the file that every checkpoint has.
bool holdsCheckpoint(const std::string &dir, int64_t step);

/// Removes all but the `keep` latest checkpoints, and never `current`. Folders
/// that hold none, or more than one (checkOwnCheckpoint), are another's: they
/// neither count nor go. Io.
Status removeOldSteps(const std::string &dir, int64_t keep, int64_t current);

/// Removes the checkpoint DIR/step-<k>. InvalidArgument where it is another's;
/// Io.
Status removeStep(const std::string &dir, int64_t step);

/// A folder that is being written, DIR/.step-<k>-<pid>-<n>.tmp. Until
/// publish(), nobody takes it for a checkpoint; destroyed before, it goes away.
/// What a killed process left is removed by the next create(): a lock tells it
/// from one that is being written. Thread rule: externally synchronised.
class StepFolder {
public:
  /// Makes `dir` where it is missing. Io, also where step-<k> exists and is not
  /// to be overwritten.
  static StatusOr<std::unique_ptr<StepFolder>>
  create(const std::string &dir, int64_t step, bool overwrite);
  ~StepFolder();
  StepFolder(const StepFolder &) = delete;
  StepFolder &operator=(const StepFolder &) = delete;

  const std::string &path() const { return temporary; }
  /// Writes a file there, and syncs it to the disk. Io.
  Status write(const std::string &name, const std::string &text) const;
  /// Syncs the folder and names it step-<k>. Io.
  Status publish();

private:
  StepFolder() = default;
  Status makeTemporary();

  std::string dir, temporary;
  int64_t step = 0;
  bool overwrite = false;
  bool madeDir = false; // it goes away with an unfinished first checkpoint
  int lock = -1;        // of the folder itself, held while it is being written
};

} // namespace pipec

#endif
