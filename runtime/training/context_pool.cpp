// See context_pool.h. Tests: test/unit/runtime/TrainerTest.cpp.
#include "runtime/training/context_pool.h"

#include "runtime/executor/memory_need.h"

#include <algorithm>
#include <string>

namespace pipec {

Status ContextPool::allocate(Device &of, size_t count, uint64_t bytes,
                             const std::string &what,
                             const std::string &advice) {
  device = &of;
  size = bytes;
  for (size_t c = 0; c < count; ++c) {
    // Never null, so that a stage that keeps nothing has contexts too.
    PIPEC_ASSIGN_OR_RETURN(DeviceBuffer buffer,
                           allocateFor(of, std::max<uint64_t>(bytes, 1),
                                       what + " (" + std::to_string(c + 1) +
                                           " of " + std::to_string(count) + ")",
                                       advice));
    buffers.push_back(std::move(buffer));
  }
  reset();
  return {};
}

StatusOr<uint8_t *> ContextPool::of(int64_t microbatch) {
  auto at = inUse.find(microbatch);
  if (at == inUse.end()) {
    if (unused.empty())
      return internalError("no context is left for microbatch " +
                           std::to_string(microbatch));
    at = inUse.emplace(microbatch, Use{unused.back(), false}).first;
    unused.pop_back();
  }
  return buffers[at->second.buffer].bytes();
}

Status ContextPool::release(Stream &stream, int64_t microbatch) {
  auto at = inUse.find(microbatch);
  if (at == inUse.end())
    return {};
  const size_t buffer = at->second.buffer;
  keptCount -= at->second.isKept;
  unused.push_back(buffer);
  inUse.erase(at);
  return device->discard(stream, buffers[buffer].get(), size);
}

void ContextPool::reset() {
  inUse.clear();
  unused.clear();
  keptCount = 0;
  for (size_t b = buffers.size(); b-- > 0;)
    unused.push_back(b);
}

void ContextPool::keep(int64_t microbatch) {
  auto at = inUse.find(microbatch);
  if (at == inUse.end() || at->second.isKept)
    return;
  at->second.isKept = true;
  ++keptCount;
}

} // namespace pipec
