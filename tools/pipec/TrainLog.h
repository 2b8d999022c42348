// The log of `pipec train`: a JSON line a step.
#ifndef PIPEC_TOOLS_PIPEC_TRAINLOG_H
#define PIPEC_TOOLS_PIPEC_TRAINLOG_H

#include "pipec/trainer.h"

#include <cstdio>

namespace pipec::tool {

/// Without a path all calls do nothing. Thread rule: one thread.
class TrainLog {
public:
  /// A new file, or, with `append`, one that goes on at step `first`: lines of
  /// that and later steps, which are made again, are cut off.
  Status open(const std::string &path, bool append, int64_t first);
  /// Whether the file's last line had no end, and was dropped.
  bool wasCut() const { return cut; }
  Status add(const StepResult &result, double seconds, int64_t tokens);

private:
  Status cutAt(int64_t first);

  std::string path;
  bool cut = false;
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> file{nullptr, std::fclose};
};

} // namespace pipec::tool

#endif // PIPEC_TOOLS_PIPEC_TRAINLOG_H
