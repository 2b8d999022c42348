// How one run of all workers ends: the first error, and everybody told.
#ifndef PIPEC_RUNTIME_EXECUTOR_RUN_CONTROL_H
#define PIPEC_RUNTIME_EXECUTOR_RUN_CONTROL_H

#include "runtime/transport/transport.h"

#include <atomic>
#include <mutex>

namespace pipec {

/// Thread rule: safe. Used again for the next run after reset().
class RunControl {
public:
  /// `channels` (not owned) are cancelled when a run fails.
  explicit RunControl(std::vector<Channel *> channels)
      : channels(std::move(channels)) {}

  /// Ends the run. The first error that is not Cancelled is the run's; the
  /// others follow from it.
  void fail(const Status &status);
  /// Checked between instructions, so that a failed run ends soon.
  bool stopped() const { return stop.load(std::memory_order_relaxed); }
  /// The run's error; call when no worker runs.
  Status result() const;
  /// Makes ready for a run; no worker runs.
  void reset();

private:
  std::vector<Channel *> channels;
  std::atomic<bool> stop{false};
  mutable std::mutex mutex;
  Status first;
};

} // namespace pipec

#endif
