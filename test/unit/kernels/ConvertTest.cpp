// convert between every two element types, and where values do not fit.
#include "test/unit/kernels/KernelTest.h"

#include <cmath>
#include <limits>

using namespace pipec;
using namespace pipec::test;

namespace {

const double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

Values convert(DType from, const Values &in, DType to) {
  const Shape shape = {static_cast<int64_t>(in.size())};
  return values(Op("convert").run({make(from, shape, in)}, {to, shape}));
}

TEST(ConvertTest, EveryPair) {
  for (DType from : kAll)
    for (DType to : kAll) {
      SCOPED_TRACE(std::string(dtypeName(from)) + " to " +
                   std::string(dtypeName(to)));
      if (from == DType::Bool || to == DType::Bool)
        EXPECT_EQ(convert(from, {0, 1}, to), (Values{0, 1}));
      else
        EXPECT_EQ(convert(from, {0, 1, 100}, to), (Values{0, 1, 100}));
    }
}

TEST(ConvertTest, ToBool) {
  EXPECT_EQ(convert(DType::F32, {0, -0.0, 0.25, kNan, -kInf}, DType::Bool),
            (Values{0, 0, 1, 1, 1}));
  EXPECT_EQ(convert(DType::F16, {0, 1e-7}, DType::Bool), (Values{0, 1}));
  EXPECT_EQ(convert(DType::I64, {0, 0x1p40}, DType::Bool), (Values{0, 1}));
}

TEST(ConvertTest, FloatToInteger) {
  EXPECT_EQ(convert(DType::F32, {1.9, -1.9, 300, -130}, DType::I8),
            (Values{1, -1, 44, 126}));
  EXPECT_EQ(convert(DType::F32, {255.5, -1, 256}, DType::U8),
            (Values{255, 255, 0}));
  EXPECT_EQ(convert(DType::F32, {kInf, -kInf, kNan, 0x1p40}, DType::I32),
            (Values{-1, 0, 0, 0}));
  EXPECT_EQ(convert(DType::F64, {kInf, -kInf, kNan}, DType::I64),
            (Values{0x1p63, -0x1p63, 0}));
  EXPECT_EQ(convert(DType::F64, {0x1p63, 1.5 * 0x1p63, -1, 0x1p64}, DType::U64),
            (Values{0x1p63, 1.5 * 0x1p63, 0x1p64, 0x1p63}));
  EXPECT_EQ(convert(DType::F16, {-2.75, 65504}, DType::I16), (Values{-2, -32}));
}

TEST(ConvertTest, IntegerToIntegerWraps) {
  EXPECT_EQ(convert(DType::I32, {300, -1, -129}, DType::I8),
            (Values{44, -1, 127}));
  EXPECT_EQ(convert(DType::I8, {-1}, DType::U32), (Values{0xffffffff}));
  EXPECT_EQ(convert(DType::U8, {200}, DType::I8), (Values{-56}));
}

TEST(ConvertTest, FloatsRoundOnce) {
  EXPECT_EQ(convert(DType::F64,
                    {1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-11, 65520, 1e300},
                    DType::F16),
            (Values{1 + 0x1p-10, 1, kInf, kInf}));
  EXPECT_EQ(convert(DType::F64, {1 + 0x1p-8 + 0x1p-40, -1e300}, DType::BF16),
            (Values{1 + 0x1p-7, -kInf}));
  EXPECT_EQ(convert(DType::F64, {1e39, 0.1}, DType::F32),
            (Values{kInf, static_cast<double>(0.1f)}));
  EXPECT_TRUE(std::isnan(convert(DType::BF16, {kNan}, DType::F16)[0]));
}

TEST(ConvertTest, WideIntegersRoundOnce) {
  // 2^62 + 2^54 is the middle of two bf16; one more is above it, which f32 and
  // f64 cannot show.
  for (DType from : {DType::I64, DType::U64}) {
    Tensor in = make(from, {4}, {0, 0, 0, 0});
    const int64_t middle = (int64_t(1) << 62) + (int64_t(1) << 54);
    in.as<int64_t>()[0] = middle;
    in.as<int64_t>()[1] = middle + 1;
    in.as<int64_t>()[2] = middle - 1;
    in.as<int64_t>()[3] = (int64_t(1) << 40) + 1;
    expectValues(Op("convert").run({in}, {DType::BF16, {4}}),
                 {0x1p62, 0x1p62 + 0x1p55, 0x1p62, 0x1p40}, 0);
    expectValues(Op("convert").run({in}, {DType::F16, {4}}),
                 {kInf, kInf, kInf, kInf});
  }
  EXPECT_EQ(convert(DType::I64, {-0x1p63}, DType::BF16), (Values{-0x1p63}));
  EXPECT_EQ(convert(DType::I32, {16777217}, DType::F32), (Values{16777216}));
}

} // namespace
