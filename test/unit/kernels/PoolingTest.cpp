// max_pool and avg_pool: hand-made windows, padding, dilation, ceil mode, NaN.
#include "test/unit/kernels/PoolOps.h"

using namespace pipec;
using namespace pipec::test;

namespace {

TEST(PoolingTest, MaxOfEveryType) {
  for (DType dtype : kNums) {
    const Tensor in =
        make(dtype, {1, 1, 3, 4}, {1, 5, 2, 3, 9, 4, 7, 8, 6, 2, 1, 0});
    expectValues(pool("max_pool", {2, 2}, {1, 2}, {0, 0, 0, 0}, {1, 1})
                     .run({in}, {dtype, {1, 1, 2, 2}}),
                 {9, 8, 9, 8});
    expectValues(pool("max_pool", {2, 2}, {2, 2}, {1, 0, 1, 0}, {1, 1})
                     .run({in}, {dtype, {1, 1, 2, 2}}),
                 {5, 3, 9, 8});
    expectValues(pool("max_pool", {2, 2}, {1, 1}, {0, 0, 0, 0}, {2, 3})
                     .run({in}, {dtype, {1, 1, 1, 1}}),
                 {6});
  }
}

TEST(PoolingTest, NegativeValuesAndNaN) {
  const Tensor in = make(DType::F32, {1, 2, 3}, {-5, -4, -3, 1, kNan, 2});
  expectValues(pool("max_pool", {2}, {1}, {1, 1}, {1})
                   .run({in}, {DType::F32, {1, 2, 4}}),
               {-5, -4, -3, -3, 1, kNan, kNan, 2});
  const Tensor byte = make(DType::I8, {1, 1, 2}, {-128, -100});
  expectValues(pool("max_pool", {2}, {1}, {1, 1}, {1})
                   .run({byte}, {DType::I8, {1, 1, 3}}),
               {-128, -100, -100});
}

TEST(PoolingTest, WindowsWhollyInThePadding) {
  const Tensor in = make(DType::F32, {1, 1, 1}, {4});
  expectValues(pool("max_pool", {1}, {1}, {1, 1}, {1})
                   .run({in}, {DType::F32, {1, 1, 3}}),
               {-kInf, 4, -kInf});
  expectValues(pool("avg_pool", {1}, {1}, {1, 1}, {1})
                   .run({in}, {DType::F32, {1, 1, 3}}),
               {0, 4, 0});
}

TEST(PoolingTest, Average) {
  for (DType dtype : kFloats) {
    const Tensor in = make(dtype, {1, 1, 2, 3}, {1, 2, 3, 4, 5, 6});
    expectValues(pool("avg_pool", {2, 2}, {1, 1}, {0, 0, 0, 0}, {1, 1})
                     .run({in}, {dtype, {1, 1, 1, 2}}),
                 {3, 4});
    expectValues(pool("avg_pool", {2, 2}, {2, 2}, {1, 1, 1, 0}, {1, 1})
                     .run({in}, {dtype, {1, 1, 2, 2}}),
                 {1, 2.5, 4, 5.5});
    Op padded = pool("avg_pool", {2, 2}, {2, 2}, {1, 1, 1, 0}, {1, 1})
                    .attr("count_include_pad", true);
    expectValues(padded.run({in}, {dtype, {1, 1, 2, 2}}),
                 {0.25, 1.25, 1, 2.75});
    expectValues(pool("avg_pool", {1, 2}, {1, 1}, {0, 0, 0, 0}, {1, 2})
                     .run({in}, {dtype, {1, 1, 2, 1}}),
                 {2, 5});
  }
}

TEST(PoolingTest, WindowsLargerThanTheInput) {
  const Tensor in = make(DType::F32, {1, 1, 4}, {1, 2, 3, 4});
  const auto ceil = [&](const char *name, int64_t window, int64_t stride,
                        Shape padding, bool padded) {
    Op op =
        pool(name, {window}, {stride}, padding, {1}).attr("ceil_mode", true);
    return padded ? op.attr("count_include_pad", true) : op;
  };
  // PyTorch's.
  expectValues(
      ceil("avg_pool", 8, 8, {0, 0}, true).run({in}, {DType::F32, {1, 1, 1}}),
      {2.5});
  expectValues(
      ceil("max_pool", 8, 8, {0, 0}, false).run({in}, {DType::F32, {1, 1, 1}}),
      {4});
  expectValues(
      ceil("avg_pool", 5, 4, {1, 1}, true).run({in}, {DType::F32, {1, 1, 2}}),
      {2, 2});
  expectValues(
      ceil("avg_pool", 5, 4, {1, 1}, false).run({in}, {DType::F32, {1, 1, 2}}),
      {2.5, 4});
  expectRefused(ceil("avg_pool", 6, 2, {0, 0}, false),
                {{DType::F32, {1, 1, 4}}}, {{DType::F32, {1, 1, 1}}},
                "exceeds the padded input");
}

TEST(PoolingTest, CeilMode) {
  const Tensor in = make(DType::F32, {1, 1, 5}, {1, 2, 3, 4, 5});
  const auto ceil = [&](const char *name, int64_t window, int64_t stride,
                        Shape padding) {
    return pool(name, {window}, {stride}, padding, {1}).attr("ceil_mode", true);
  };
  expectValues(
      ceil("max_pool", 2, 2, {0, 0}).run({in}, {DType::F32, {1, 1, 3}}),
      {2, 4, 5});
  expectValues(
      ceil("avg_pool", 2, 2, {0, 0}).run({in}, {DType::F32, {1, 1, 3}}),
      {1.5, 3.5, 5});
  // Padding counts, what ceil_mode adds beyond it does not: the last window is
  // 5, one padding element and one beyond.
  expectValues(ceil("avg_pool", 3, 2, {0, 1})
                   .attr("count_include_pad", true)
                   .run({in}, {DType::F32, {1, 1, 3}}),
               {2, 4, 2.5});
  expectValues(
      ceil("avg_pool", 3, 2, {0, 1}).run({in}, {DType::F32, {1, 1, 3}}),
      {2, 4, 5});
  // A window that would start in the high padding is dropped.
  expectValues(
      ceil("max_pool", 3, 3, {1, 1}).run({in}, {DType::F32, {1, 1, 2}}),
      {2, 5});
  expectRefused(ceil("max_pool", 3, 3, {1, 1}), {in.type()},
                {{DType::F32, {1, 1, 3}}}, "expected f32[1x1x2]");
}

TEST(PoolingTest, ThreeDimensionsAndEmptyBatch) {
  const Tensor in = make(DType::F32, {1, 1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  expectValues(pool("max_pool", {2, 1, 2}, {1, 1, 1}, Shape(6, 0), {1, 1, 1})
                   .run({in}, {DType::F32, {1, 1, 1, 2, 1}}),
               {6, 8});
  expectValues(pool("avg_pool", {2, 2, 2}, {1, 1, 1}, Shape(6, 0), {1, 1, 1})
                   .run({in}, {DType::F32, {1, 1, 1, 1, 1}}),
               {4.5});
  expectValues(
      pool("max_pool", {2}, {1}, {0, 0}, {1})
          .run({make(DType::F32, {0, 3, 4}, {})}, {DType::F32, {0, 3, 3}}),
      {});
}

} // namespace
