// What a session or a trainer allocates, counted before it does.
#ifndef PIPEC_RUNTIME_EXECUTOR_MEMORY_NEED_H
#define PIPEC_RUNTIME_EXECUTOR_MEMORY_NEED_H

#include "runtime/device/device.h"

#include <string>
#include <vector>

namespace pipec {

/// Bytes that a part of a session allocates.
struct MemoryNeed {
  uint64_t arenas = 0;   // with scratch, literals and staged inputs
  uint64_t weights = 0;  // copied ones, and sums of gradients
  uint64_t contexts = 0; // what the forward keeps for the backward
  uint64_t transfers = 0;

  MemoryNeed &operator+=(const MemoryNeed &o);
  /// Saturates.
  uint64_t total() const;
  /// "436 bytes (values 256, weights 180)"; parts of 0 bytes are left out.
  std::string str() const;
};

uint64_t saturatingAdd(uint64_t a, uint64_t b);

/// Who needs it, "stage 1" or "rank 1", and how much.
struct MemoryPart {
  std::string who;
  MemoryNeed need;
};

/// ResourceExhausted when all parts together exceed `limit` (0: none); says
/// what each part needs, and then `advice`.
Status checkMemory(const std::vector<MemoryPart> &parts, uint64_t limit,
                   const std::string &advice);

/// What to do for less, without training and with it; `canRecompute`: some
/// stage does not compute its forward again yet.
extern const char *const kLessMemory;
std::string lessMemoryToTrain(bool canRecompute);

/// `status` of an allocation for `what`, such as "stage 1, arena": where memory
/// ran out, with `advice`.
Status allocating(const Status &status, const std::string &what,
                  const std::string &advice);
/// A buffer, or an error that says what for.
StatusOr<DeviceBuffer> allocateFor(Device &device, uint64_t bytes,
                                   const std::string &what,
                                   const std::string &advice);

} // namespace pipec

#endif
