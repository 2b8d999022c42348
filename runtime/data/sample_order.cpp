// Orders of samples. In: a sample's number, the seed. Out: the element.
//
// The permutation is a Feistel network over the smallest domain of an even
// number of bits that holds n elements; values that fall outside 0 .. n-1 are
// encrypted again until they fall inside (cycle walking: Black and Rogaway,
// "Ciphers with Arbitrary Finite Domains", 2002). Domain below 4 n, so under
// four rounds of it on average; never fewer than 8 bits, because a network of
// one- or two-bit halves reaches few of the permutations of a small set.
// Nothing is stored: a step of a resumed run is computed, not replayed.
// Tests: test/unit/data/SampleOrderTest.cpp.
#include "runtime/data/sample_order.h"

#include <optional>
#include <string>

namespace pipec {
namespace {

// The finaliser of splitmix64 (Steele, Lea and Flood, 2014): every input bit
// reaches every output bit.
uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  x ^= x >> 31;
  return x;
}

} // namespace

Permutation::Permutation(uint64_t n, uint64_t seed, uint64_t epoch)
    : n(n), halfBits(4) {
  while (halfBits < 31 && (uint64_t(1) << (2 * halfBits)) < n)
    ++halfBits;
  const uint64_t golden = 0x9e3779b97f4a7c15u;
  uint64_t state = mix(mix(seed + golden) ^ (epoch + golden));
  for (uint64_t &key : keys)
    key = mix(state += golden);
}

uint64_t Permutation::encrypt(uint64_t value) const {
  const uint64_t mask = (uint64_t(1) << halfBits) - 1;
  uint64_t left = value >> halfBits, right = value & mask;
  for (const uint64_t key : keys) {
    const uint64_t next = left ^ (mix(right + key) & mask);
    left = right;
    right = next;
  }
  return left << halfBits | right;
}

uint64_t Permutation::operator()(uint64_t i) const {
  do
    i = encrypt(i);
  while (i >= n);
  return i;
}

StatusOr<int64_t> SampleOrder::firstOf(int64_t step, int64_t batch) {
  int64_t first = 0, end = 0;
  if (step < 0 || __builtin_mul_overflow(step, batch, &first) ||
      __builtin_add_overflow(first, batch, &end))
    return invalidArgument("step " + std::to_string(step) + " of batches of " +
                           std::to_string(batch) + " rows is out of range");
  return first;
}

void SampleOrder::elements(int64_t first, int64_t n, int64_t *out) const {
  std::optional<Permutation> permutation;
  int64_t current = -1; // the epoch that `permutation` belongs to
  for (int64_t i = 0; i < n; ++i) {
    const int64_t sample = first + i;
    const int64_t epoch = sample / count;
    out[i] = sample % count;
    if (!shuffled)
      continue;
    if (epoch != current)
      permutation.emplace(static_cast<uint64_t>(count), seed,
                          static_cast<uint64_t>(epoch));
    current = epoch;
    out[i] =
        static_cast<int64_t>((*permutation)(static_cast<uint64_t>(out[i])));
  }
}

} // namespace pipec
