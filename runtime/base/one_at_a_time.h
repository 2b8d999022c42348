// A check that an object is used by one thread at a time. Tests:
// test/unit/capi, test/unit/compiler/CApiTrainingTest.cpp.
#ifndef PIPEC_RUNTIME_BASE_ONE_AT_A_TIME_H
#define PIPEC_RUNTIME_BASE_ONE_AT_A_TIME_H

#include "pipec/status.h"

#include <atomic>
#include <string>

namespace pipec {

/// Calls of several threads at once become errors, where they would hang or
/// spoil what they share. Thread rule: any thread.
class OneAtATime {
public:
  /// Lives as long as the call.
  class Use {
  public:
    explicit Use(std::atomic<bool> *busy) : busy(busy) {}
    Use(Use &&other) noexcept : busy(other.busy) { other.busy = nullptr; }
    Use &operator=(Use &&) = delete;
    ~Use() {
      if (busy)
        busy->store(false, std::memory_order_release);
    }

  private:
    std::atomic<bool> *busy;
  };

  /// InvalidArgument while another call has it; `what` names the object.
  StatusOr<Use> enter(const char *what) {
    if (busy.exchange(true, std::memory_order_acquire))
      return invalidArgument(
          std::string(what) +
          " is in use by another thread: one call at a time, "
          "or one object for each thread");
    return Use(&busy);
  }

private:
  std::atomic<bool> busy{false};
};

} // namespace pipec

#endif
