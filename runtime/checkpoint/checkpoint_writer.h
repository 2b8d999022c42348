// Writes checkpoints, by several threads at once, all or nothing.
#ifndef PIPEC_RUNTIME_CHECKPOINT_CHECKPOINT_WRITER_H
#define PIPEC_RUNTIME_CHECKPOINT_CHECKPOINT_WRITER_H

#include "runtime/checkpoint/checkpoint_format.h"
#include "runtime/checkpoint/step_folder.h"

#include <mutex>
#include <set>

namespace pipec {

/// What one part, a stage say, has to keep. Host memory, borrowed for the call.
struct CheckpointPart {
  /// Under their PyTorch names, frozen ones included; a weight that several
  /// parts use is written by one of them.
  std::vector<NamedView> parameters;
  std::vector<NamedView> buffers;
  /// Optimizer::state().
  std::map<std::string, TensorView> optimizer;
};

/// One checkpoint that is being written.
///
///   auto writer = CheckpointWriter::begin("run1", 1000);
///   // in each stage's thread:
///   (*writer)->writePart(stage, part);
///   // when all have returned:
///   (*writer)->commit(info);
///
/// Until commit() returns there is no folder DIR/step-<k>, however the process
/// ends. Destroyed before, it removes what it wrote. Thread rule: writePart()
/// may be called from several threads at once for different parts; all else
/// when no writePart() runs.
class CheckpointWriter {
public:
  /// For the folder `dir`/step-`step`; `dir` is made where it is missing.
  /// `overwrite` false: an existing one is an error, also in commit(). Io.
  static StatusOr<std::unique_ptr<CheckpointWriter>>
  begin(const std::string &dir, int64_t step, bool overwrite = false);

  /// Writes the files of part `part` >= 0 and syncs them to the disk.
  /// InvalidArgument for a part that came before, and for a name that this or
  /// another part has; Io. After an error commit() refuses.
  Status writePart(int part, const CheckpointPart &contents);

  /// Writes checkpoint.json and gives the folder its name. `info.step` must be
  /// the step of begin(). Afterwards removes the oldest checkpoints of the
  /// folder until `keep` are left; 0 keeps all. Errors: Io, also where an old
  /// one cannot be removed and this one is in its place; InvalidArgument where
  /// a part failed or none was written.
  Status commit(const CheckpointInfo &info, int64_t keep = 0);

private:
  CheckpointWriter() = default;
  Status reserve(int part, const CheckpointPart &contents);
  Status reserveName(const std::string &name, const std::string &file,
                     std::map<std::string, std::string> &files);
  Status writeFile(const std::string &name,
                   const std::vector<NamedView> &views) const;

  std::string dir;
  int64_t step = 0;
  std::unique_ptr<StepFolder> folder;

  std::mutex mutex; // guards what follows
  CheckpointContents written;
  std::set<int> parts;
  bool hasFailed = false;
};

} // namespace pipec

#endif
