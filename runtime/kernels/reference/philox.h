// Philox4x32-10, the counter-based generator of Salmon et al., "Parallel Random
// Numbers: As Easy as 1, 2, 3" (SC'11). A value follows from key and counter
// alone, so it is the same in any order and on any thread.
#ifndef PIPEC_RUNTIME_KERNELS_REFERENCE_PHILOX_H
#define PIPEC_RUNTIME_KERNELS_REFERENCE_PHILOX_H

#include <array>
#include <cstdint>

namespace pipec::reference {

using Philox4 = std::array<uint32_t, 4>;

/// Four random words of `counter` under `key`.
inline Philox4 philox(Philox4 counter, uint64_t key) {
  constexpr uint64_t kMultiplyA = 0xD2511F53, kMultiplyB = 0xCD9E8D57;
  constexpr uint32_t kBumpA = 0x9E3779B9, kBumpB = 0xBB67AE85;
  constexpr int kRounds = 10;
  auto keyA = static_cast<uint32_t>(key),
       keyB = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t a = kMultiplyA * counter[0], b = kMultiplyB * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ keyA,
               static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ keyB,
               static_cast<uint32_t>(a)};
    keyA += kBumpA;
    keyB += kBumpB;
  }
  return counter;
}

} // namespace pipec::reference

#endif
