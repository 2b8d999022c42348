// float16 and bfloat16 as storage types, with conversions that inline into
// loops. Arithmetic on them is f32 arithmetic, rounded where a value is stored.
// Tests: test/unit/base/DTypeTest.cpp.
#ifndef PIPEC_RUNTIME_BASE_HALF_H
#define PIPEC_RUNTIME_BASE_HALF_H

#include <cstdint>
#include <cstring>

namespace pipec {

struct Half {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

inline uint32_t floatBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}
inline float bitsToFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

inline float toFloat(Half h) {
  const uint32_t sign = static_cast<uint32_t>(h.bits & 0x8000u) << 16;
  const uint32_t magnitude = h.bits & 0x7fffu;
  // Subnormals: the significand counts units of 2^-24, exact in f32.
  const uint32_t small =
      floatBits(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f);
  const uint32_t exponentShift =
      magnitude >= 0x7c00u ? 0x70000000u : 0x38000000u;
  const uint32_t normal = (magnitude << 13) + exponentShift;
  return bitsToFloat(sign | (magnitude < 0x0400u ? small : normal));
}

/// Round to nearest even; NaN stays a (quiet) NaN with its sign.
inline Half toHalf(float value) {
  const uint32_t bits = floatBits(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  // Adding 0.5 leaves a multiple of 2^-24 in the low bits, rounded by the
  // addition itself.
  const uint32_t small = floatBits(bitsToFloat(magnitude) + 0.5f) - 0x3f000000u;
  const uint32_t odd = (magnitude >> 13) & 1u;
  const uint32_t normal = (magnitude - 0x38000000u + 0xfffu + odd) >> 13;
  uint32_t result = magnitude < 0x38800000u ? small : normal;
  result = magnitude >= 0x477ff000u ? 0x7c00u : result;
  result =
      magnitude > 0x7f800000u ? 0x7e00u | ((magnitude >> 13) & 0x3ffu) : result;
  return {static_cast<uint16_t>(sign | result)};
}

inline float toFloat(BFloat16 b) {
  return bitsToFloat(static_cast<uint32_t>(b.bits) << 16);
}

/// Round to nearest even; NaN stays a (quiet) NaN with its sign.
inline BFloat16 toBFloat16(float value) {
  const uint32_t bits = floatBits(value);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return {static_cast<uint16_t>(nan ? (bits >> 16) | 0x40u : rounded)};
}

/// The f32 next to `value` from which a second rounding to f16 or bf16 gives
/// what one rounding would: inexact results are rounded to the neighbour with
/// an odd significand.
inline float roundToOdd(double value) {
  const float nearest = static_cast<float>(value);
  const double back = nearest;
  if (back == value || value != value)
    return nearest;
  uint32_t bits = floatBits(nearest);
  const double size = value < 0 ? -value : value;
  const double backSize = back < 0 ? -back : back;
  if (backSize > size)
    --bits;
  return bitsToFloat(bits | 1u);
}

} // namespace pipec

#endif // PIPEC_RUNTIME_BASE_HALF_H
