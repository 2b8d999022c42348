// Static placement of values in one arena: the algorithm alone, without MLIR.
#ifndef PIPEC_PASSES_LOWER_MEMORYPLAN_H
#define PIPEC_PASSES_LOWER_MEMORYPLAN_H

#include <cstdint>
#include <vector>

namespace pipec::pipe {

/// A value that needs `bytes` from step `first` to step `last`, both included.
struct Lifetime {
  int64_t first = 0, last = 0;
  uint64_t bytes = 0;
};

struct MemoryPlan {
  std::vector<uint64_t> offsets; // per lifetime
  uint64_t bytes = 0;            // of the arena
};

constexpr uint64_t kArenaAlignment = 64;

/// Places the largest value first, each at the lowest aligned offset that is
/// free for its whole lifetime. Deterministic; O(n log n) and, for each value,
/// its neighbours in time. Values of 0 bytes lie at offset 0.
MemoryPlan planMemory(const std::vector<Lifetime> &lifetimes);

} // namespace pipec::pipe

#endif // PIPEC_PASSES_LOWER_MEMORYPLAN_H
