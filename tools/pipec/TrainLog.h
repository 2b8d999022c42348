// The log of `pipec train`: a JSON line a step.
#ifndef PIPEC_TOOLS_PIPEC_TRAINLOG_H
#define PIPEC_TOOLS_PIPEC_TRAINLOG_H

#include "pipec/trainer.h"
#include "runtime/base/file_lock.h"

#include <cstdio>

namespace pipec::tool {

/// What a step has worked through: tokens, or samples where there are none.
struct StepWork {
  bool isTokens = false;
  int64_t count = 0;
};

/// Without a path all calls do nothing; "-" is stdout, and a device or pipe is
/// written to as it comes. Order of calls: check, open, then add for each step.
/// Thread rule: one thread.
class TrainLog {
public:
  /// Before any work: whether `path` can be written to, is free, or is to be
  /// gone on with (`append`) or replaced, and whether no other run has it.
  Status check(const std::string &path, bool append, bool overwrite);
  /// A new file, in place of what is there once there is a line for it; or,
  /// with `append`, one that goes on behind `done` steps: lines of later steps
  /// of the run, which are made again, are cut off. With no step done, all of
  /// them are another run's, and stay.
  Status open(bool append, int64_t done);
  /// What was done with the file's lines; empty: nothing to tell of.
  const std::string &remark() const { return said; }
  Status add(const StepResult &result, double seconds, const StepWork &work);

private:
  Status cutAt(int64_t done);
  Status failed(int error) const;
  Status openStream();

  std::string path, said;
  bool replaces = false; // what is there goes with the first line
  std::unique_ptr<FileLock> lock;
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> file{nullptr, std::fclose};
};

} // namespace pipec::tool

#endif // PIPEC_TOOLS_PIPEC_TRAINLOG_H
