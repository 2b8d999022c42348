// The end of a run. In: errors from any worker; out: the one that caused the
// rest, after every waiting worker was woken.
// Tests: test/unit/runtime/ErrorTest.cpp.
#include "runtime/executor/run_control.h"

namespace pipec {

void RunControl::fail(const Status &status) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    const bool isCause = status.getCode() != StatusCode::Cancelled;
    if (first.ok() || (isCause && first.getCode() == StatusCode::Cancelled))
      first = status;
  }
  stop.store(true, std::memory_order_relaxed);
  for (Channel *channel : channels)
    channel->cancel();
}

Status RunControl::result() const {
  std::lock_guard<std::mutex> lock(mutex);
  return first;
}

void RunControl::reset() {
  std::lock_guard<std::mutex> lock(mutex);
  first = Status();
  stop.store(false, std::memory_order_relaxed);
  for (Channel *channel : channels)
    channel->reset();
}

} // namespace pipec
