// The contexts of a stage's microbatches in flight, in the two parts in which
// they are let go.
#ifndef PIPEC_RUNTIME_TRAINING_CONTEXT_POOL_H
#define PIPEC_RUNTIME_TRAINING_CONTEXT_POOL_H

#include "runtime/device/device.h"

#include <map>
#include <vector>

namespace pipec {

/// How many microbatches of a stage hold a context at once, at most: of the
/// part that W reads and of the rest, which B lets go.
struct ContextCounts {
  size_t forWeight = 0;
  size_t forInput = 0;
};

/// Buffers of one size, lent to microbatches. Thread rule: one thread at a
/// time.
class ContextPool {
public:
  /// Errors: out of memory, for `what`, with `advice`.
  Status allocate(Device &device, size_t count, uint64_t bytes,
                  const std::string &what, const std::string &advice);

  /// The microbatch's buffer, a free one where it has none; not null, and of
  /// indeterminate content at first. Errors: none is left.
  StatusOr<uint8_t *> of(int64_t microbatch);
  /// Nothing that is queued on `stream` from here on reads it.
  Status release(Stream &stream, int64_t microbatch);
  /// None is in use.
  void reset();

  /// From here to its release the buffer of the microbatch holds activations,
  /// and not only what has arrived for its forward.
  void keep(int64_t microbatch);
  int64_t kept() const { return keptCount; }
  /// Bytes of what is kept.
  uint64_t keptBytes() const { return static_cast<uint64_t>(keptCount) * size; }

private:
  struct Use {
    size_t buffer = 0;
    bool isKept = false;
  };
  Device *device = nullptr;
  uint64_t size = 0;
  std::vector<DeviceBuffer> buffers;
  std::vector<size_t> unused;
  std::map<int64_t, Use> inUse; // by microbatch
  int64_t keptCount = 0;
};

} // namespace pipec

#endif
