// Which sample of a data set comes when: in order, or shuffled anew each epoch.
#ifndef PIPEC_RUNTIME_DATA_SAMPLE_ORDER_H
#define PIPEC_RUNTIME_DATA_SAMPLE_ORDER_H

#include "pipec/status.h"

#include <cstdint>

namespace pipec {

/// A pseudo-random permutation of 0 .. n-1, computed point by point in O(1)
/// time and memory, the same on every machine. Thread rule: a value.
class Permutation {
public:
  /// Requires 1 <= n <= 2^62.
  Permutation(uint64_t n, uint64_t seed, uint64_t epoch);
  /// Where `i` < n goes.
  uint64_t operator()(uint64_t i) const;

private:
  static constexpr int kRounds = 8;
  uint64_t encrypt(uint64_t value) const;

  uint64_t n;
  int halfBits;
  uint64_t keys[kRounds];
};

/// An endless sequence of samples: sample s belongs to epoch s / n and is that
/// epoch's element s % n, so that an epoch has every element once, no element
/// is dropped, and a batch may span the end of one epoch and the beginning of
/// the next. Thread rule: a value.
class SampleOrder {
public:
  SampleOrder() = default;
  /// Requires 1 <= count <= 2^62. `seed` matters with `shuffle` alone.
  SampleOrder(int64_t count, bool shuffle, uint64_t seed)
      : count(count), shuffled(shuffle), seed(seed) {}

  /// The number of the first sample of batch `step`; InvalidArgument where the
  /// step is negative or too large to count its samples.
  static StatusOr<int64_t> firstOf(int64_t step, int64_t batch);
  /// The elements of samples first .. first+n-1, in order, into `out`.
  void elements(int64_t first, int64_t n, int64_t *out) const;

  int64_t size() const { return count; }
  bool isShuffled() const { return shuffled; }

private:
  int64_t count = 1;
  bool shuffled = false;
  uint64_t seed = 0;
};

} // namespace pipec

#endif
