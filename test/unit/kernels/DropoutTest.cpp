// Philox4x32-10 against the known answers of its authors, and the masks that
// dropout makes of it.
#include "runtime/kernels/reference/philox.h"
#include "test/unit/kernels/KernelTest.h"

#include <cmath>
#include <limits>

using namespace pipec;
using namespace pipec::test;
using reference::philox;
using reference::Philox4;

namespace {

// From kat_vectors of the Random123 distribution, philox4x32 with 10 rounds.
TEST(DropoutTest, PhiloxKnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, 0),
            (Philox4{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({ones, ones, ones, ones}, ~uint64_t(0)),
            (Philox4{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  // Digits of pi; the key's words are a4093822 and 299f31d0.
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                   0x299f31d0a4093822),
            (Philox4{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

Op dropout(double ratio, int64_t stream = 0) {
  return Op("dropout").attr("ratio", ratio).attr("stream", stream);
}

Tensor key(int64_t seed, int64_t step, int64_t microbatch) {
  const int64_t words[3] = {seed, step, microbatch};
  return *Tensor::copyOf({DType::I64, {3}}, words);
}

// Which of `count` ones are kept.
std::string mask(int64_t count, double ratio, const Tensor &with,
                 int64_t stream = 0, DType dtype = DType::F32) {
  const TensorType type{dtype, {count}};
  std::string kept;
  const Tensor ones = make(dtype, {count}, Values(count, 1));
  for (double v : values(dropout(ratio, stream).run({ones, with}, type)))
    kept += v == 0 ? '0' : '1';
  return kept;
}

TEST(DropoutTest, FollowsTheGenerator) {
  const Tensor with = key(0x123456789abcdef0, 5, 6);
  const Values x = {1, -2, 3, 4, 5, 6, 7, 8, 9, 10};
  Values expected;
  for (uint32_t i = 0; i < x.size(); ++i) {
    const uint32_t word = philox({i / 4, 6, 7, 5}, 0x123456789abcdef0)[i % 4];
    expected.push_back(word / 4294967296.0 >= 0.25 ? x[i] * 4 / 3 : 0);
  }
  for (DType dtype : kFloats)
    expectValues(
        dropout(0.25, 7).run({make(dtype, {2, 5}, x), with}, {dtype, {2, 5}}),
        expected, 2);
}

TEST(DropoutTest, KeepsTheRateAndTheMean) {
  const int64_t count = 1 << 18;
  for (double ratio : {0.1, 0.5, 0.9}) {
    const std::string kept = mask(count, ratio, key(42, 0, 0));
    const double n = static_cast<double>(count),
                 share = static_cast<double>(
                     std::count(kept.begin(), kept.end(), '1'));
    // Five standard deviations.
    EXPECT_NEAR(share, n * (1 - ratio), 5 * std::sqrt(n * ratio * (1 - ratio)));
  }
  EXPECT_EQ(mask(64, 0, key(1, 2, 3)), std::string(64, '1'));
  EXPECT_EQ(mask(64, 1, key(1, 2, 3)), std::string(64, '0'));
  const Tensor all = make(DType::F32, {3}, {1, -2, 3});
  EXPECT_EQ(bytes(dropout(0).run({all, key(1, 2, 3)}, all.type())), bytes(all));
}

TEST(DropoutTest, WhatIsDroppedIsZero) {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor in = make(DType::F32, {4}, {inf, -inf, std::nan(""), -1});
  EXPECT_EQ(bytes(dropout(1).run({in, key(0, 0, 0)}, in.type())),
            std::string(16, '\0'));
}

TEST(DropoutTest, AnElementsFateIsItsOwn) {
  const Tensor with = key(3, 1, 4);
  const std::string whole = mask(1001, 0.5, with);
  for (int64_t count : {1, 2, 3, 4, 5, 1000})
    EXPECT_EQ(mask(count, 0.5, with), whole.substr(0, count)) << count;
  for (DType dtype : kFloats)
    EXPECT_EQ(mask(1001, 0.5, with, 0, dtype), whole);
  const int32_t words[3] = {3, 1, 4};
  EXPECT_EQ(mask(1001, 0.5, *Tensor::copyOf({DType::I32, {3}}, words)), whole);
  // Elements that a lower ratio drops a higher one drops too.
  const std::string more = mask(1001, 0.3, with);
  for (size_t i = 0; i < whole.size(); ++i)
    EXPECT_TRUE(whole[i] == '0' || more[i] == '1');
}

TEST(DropoutTest, SeedStepMicrobatchAndStreamAllCount) {
  const std::string one = mask(256, 0.5, key(1, 2, 3), 4);
  for (const Tensor &other :
       {key(2, 2, 3), key(1, 3, 3), key(1, 2, 4), key(1, 3, 2), key(3, 2, 1),
        key(1 + (int64_t(1) << 32), 2, 3), key(-1, 2, 3)})
    EXPECT_NE(mask(256, 0.5, other, 4), one);
  EXPECT_NE(mask(256, 0.5, key(1, 2, 3), 5), one);
  EXPECT_NE(mask(256, 0.5, key(1, 4, 3), 2), one);
  EXPECT_EQ(mask(256, 0.5, key(1, 2, 3), 4), one);
}

TEST(DropoutTest, Refused) {
  const TensorType x{DType::F32, {8}}, words{DType::I64, {3}};
  expectRefused(dropout(0.5), {x}, {x}, "without a key");
  expectRefused(dropout(1.5), {x, words}, {x}, "ratio must be from 0 to 1");
  expectRefused(dropout(std::nan("")), {x, words}, {x},
                "ratio must be from 0 to 1");
  expectRefused(dropout(0.5, -1), {x, words}, {x}, "32-bit");
  expectRefused(dropout(0.5, int64_t(1) << 32), {x, words}, {x}, "32-bit");
  expectRefused(dropout(0.5), {x, {DType::I64, {4}}}, {x});
  expectRefused(dropout(0.5), {x, {DType::F32, {3}}}, {x},
                "expected i32 or i64");
  const TensorType huge{DType::F32, {int64_t(1) << 35}};
  expectRefused(dropout(0.5), {huge, words}, {huge}, "2^34");
}

} // namespace
