// Element types: names and sizes, and the 16-bit floats over all their values.
#include "pipec/tensor.h"
#include "runtime/base/half.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace pipec;

namespace {

TEST(DTypeTest, NamesSizesAndClasses) {
  size_t known = 0;
  for (int i = 0; i < 256; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (i < 1 || i > 13) {
      EXPECT_EQ(byteSize(dtype), 0u);
      EXPECT_EQ(dtypeName(dtype), "unknown");
      continue;
    }
    ++known;
    StatusOr<DType> back = dtypeFromSafetensors(safetensorsName(dtype));
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(*back, dtype);
    EXPECT_EQ(isFloat(dtype) + isSignedInt(dtype) + isUnsignedInt(dtype),
              dtype == DType::Bool ? 0 : 1);
  }
  EXPECT_EQ(known, 13u);
  EXPECT_EQ(dtypeName(DType::BF16), "bf16");
  EXPECT_EQ(safetensorsName(DType::Bool), "BOOL");
  EXPECT_EQ(dtypeFromSafetensors("F8_E4M3").status().getCode(),
            StatusCode::Unsupported);
}

// The value of 16 bits by the definition of the format.
double decode(uint16_t bits, int exponentBits, int fractionBits) {
  const int bias = (1 << (exponentBits - 1)) - 1;
  const int exponent = (bits >> fractionBits) & ((1 << exponentBits) - 1);
  const double fraction =
      (bits & ((1 << fractionBits) - 1)) * std::ldexp(1.0, -fractionBits);
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == (1 << exponentBits) - 1)
    return fraction != 0 ? std::nan("") : sign * INFINITY;
  return exponent == 0 ? sign * std::ldexp(fraction, 1 - bias)
                       : sign * std::ldexp(1 + fraction, exponent - bias);
}

TEST(DTypeTest, SixteenBitFloatsDecodeAndGoRound) {
  for (uint32_t i = 0; i < 0x10000; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    const double half = decode(bits, 5, 10), brain = decode(bits, 8, 7);
    if (std::isnan(half)) {
      EXPECT_TRUE(std::isnan(halfToFloat(bits)));
      EXPECT_TRUE(std::isnan(halfToFloat(floatToHalf(halfToFloat(bits)))));
    } else {
      ASSERT_EQ(halfToFloat(bits), half) << i;
      ASSERT_EQ(floatToHalf(halfToFloat(bits)), bits) << i;
    }
    if (std::isnan(brain)) {
      EXPECT_TRUE(std::isnan(bfloat16ToFloat(bits)));
      EXPECT_TRUE(
          std::isnan(bfloat16ToFloat(floatToBfloat16(bfloat16ToFloat(bits)))));
    } else {
      ASSERT_EQ(bfloat16ToFloat(bits), brain) << i;
      ASSERT_EQ(floatToBfloat16(bfloat16ToFloat(bits)), bits) << i;
    }
  }
}

// Between each two neighbours: below the middle down, above up, the middle to
// the even one.
TEST(DTypeTest, RoundsToNearestEven) {
  const auto check = [](auto toFloat, auto fromFloat, uint16_t largest) {
    for (uint16_t low = 0; low < largest; ++low) {
      const double a = toFloat(low),
                   b = toFloat(static_cast<uint16_t>(low + 1));
      const auto middle = static_cast<float>((a + b) / 2);
      const uint16_t even = low % 2 == 0 ? low : static_cast<uint16_t>(low + 1);
      ASSERT_EQ(fromFloat(middle), even) << low;
      ASSERT_EQ(fromFloat(std::nextafter(middle, 0.0f)), low) << low;
      ASSERT_EQ(fromFloat(std::nextafter(middle, INFINITY)), low + 1) << low;
      ASSERT_EQ(fromFloat(-middle), even | 0x8000) << low;
    }
  };
  check(halfToFloat, floatToHalf, 0x7bff);
  check(bfloat16ToFloat, floatToBfloat16, 0x7f7e);
  EXPECT_EQ(floatToHalf(65519.99f), 0x7bff);
  EXPECT_EQ(floatToHalf(65520.0f), 0x7c00);
  EXPECT_EQ(floatToHalf(INFINITY), 0x7c00);
  EXPECT_EQ(floatToHalf(1e-10f), 0);
  EXPECT_EQ(floatToBfloat16(std::numeric_limits<float>::max()), 0x7f80);
}

// By way of an f32 rounded to odd, f64 rounds to the 16-bit floats once.
TEST(DTypeTest, RoundToOddAvoidsDoubleRounding) {
  // Just above the middle of 1 and its successor: f32 alone would land on the
  // middle and then round down to even.
  const double aboveMiddle = 1 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(floatToHalf(static_cast<float>(aboveMiddle)), 0x3c00);
  EXPECT_EQ(toHalf(roundToOdd(aboveMiddle)).bits, 0x3c01);
  EXPECT_EQ(toHalf(roundToOdd(-aboveMiddle)).bits, 0xbc01);
  EXPECT_EQ(toHalf(roundToOdd(1 + 0x1p-11 - 0x1p-40)).bits, 0x3c00);
  EXPECT_EQ(toBFloat16(roundToOdd(1 + 0x1p-8 + 0x1p-40)).bits, 0x3f81);
  EXPECT_EQ(toBFloat16(roundToOdd(1e300)).bits, 0x7f80);
  EXPECT_EQ(roundToOdd(0.5), 0.5f);
  EXPECT_TRUE(std::isnan(roundToOdd(NAN)));
  EXPECT_EQ(roundToOdd(-INFINITY), -INFINITY);
}

} // namespace
