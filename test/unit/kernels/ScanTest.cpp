// arg_reduce, cumulative, top_k: small hand-made cases over all element types.
#include "test/unit/kernels/KernelTest.h"

#include <algorithm>
#include <limits>
#include <numeric>

using namespace pipec;
using namespace pipec::test;

namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN();

Op argReduce(const char *kind, int64_t dim, bool last = false,
             bool keep = false) {
  Op op = Op("arg_reduce").attr("kind", std::string(kind)).attr("dim", dim);
  if (last)
    op.attr("select_last", true);
  if (keep)
    op.attr("keep_dims", true);
  return op;
}

TEST(ScanTest, ArgReduce) {
  for (DType dtype : kNums) {
    SCOPED_TRACE(dtypeName(dtype));
    const Tensor in = make(dtype, {2, 4}, {3, 9, 9, 1, 5, 1, 1, 4});
    const TensorType rows{DType::I64, {2}};
    expectValues(argReduce("argmax", 1).run({in}, rows), {1, 0});
    expectValues(argReduce("argmax", 1, true).run({in}, rows), {2, 0});
    expectValues(argReduce("argmin", 1).run({in}, rows), {3, 1});
    expectValues(
        argReduce("argmin", 1, true, true).run({in}, {DType::I64, {2, 1}}),
        {3, 2});
    expectValues(argReduce("argmax", 0).run({in}, {DType::I64, {4}}),
                 {1, 0, 0, 1});
  }
  for (DType dtype : kFloats) {
    const Tensor in = make(dtype, {4}, {1, kNan, 5, kNan});
    for (const char *kind : {"argmax", "argmin"}) {
      expectValues(argReduce(kind, 0).run({in}, {DType::I64, {}}), {1});
      expectValues(argReduce(kind, 0, true).run({in}, {DType::I64, {}}), {3});
    }
  }
  expectValues(argReduce("argmax", 1)
                   .run({make(DType::F32, {0, 3}, {})}, {DType::I64, {0}}),
               {});
  expectRefused(argReduce("argmax", 1), {{DType::F32, {2, 0}}},
                {{DType::I64, {2}}}, "no element");
}

Op cumulative(const char *kind, int64_t dim, bool exclusive = false,
              bool reverse = false) {
  Op op = Op("cumulative").attr("kind", std::string(kind)).attr("dim", dim);
  if (exclusive)
    op.attr("exclusive", true);
  if (reverse)
    op.attr("reverse", true);
  return op;
}

TEST(ScanTest, Cumulative) {
  for (DType dtype : kNums) {
    SCOPED_TRACE(dtypeName(dtype));
    const Tensor in = make(dtype, {2, 3}, {1, 2, 3, 4, 5, 6});
    expectValues(cumulative("cumsum", 1).run({in}, in.type()),
                 {1, 3, 6, 4, 9, 15});
    expectValues(cumulative("cumsum", 0).run({in}, in.type()),
                 {1, 2, 3, 5, 7, 9});
    expectValues(cumulative("cumsum", 1, true).run({in}, in.type()),
                 {0, 1, 3, 0, 4, 9});
    expectValues(cumulative("cumsum", 1, false, true).run({in}, in.type()),
                 {6, 5, 3, 15, 11, 6});
    expectValues(cumulative("cumsum", 1, true, true).run({in}, in.type()),
                 {5, 3, 0, 11, 6, 0});
    expectValues(cumulative("cumprod", 1).run({in}, in.type()),
                 {1, 2, 6, 4, 20, 120});
    expectValues(cumulative("cumprod", 1, true).run({in}, in.type()),
                 {1, 1, 2, 1, 4, 20});
  }
  expectValues(
      cumulative("cumsum", 0)
          .run({make(DType::U8, {3}, {200, 100, 1})}, {DType::U8, {3}}),
      {200, 44, 45});
  expectValues(cumulative("cumsum", 0)
                   .run({make(DType::F32, {0}, {})}, {DType::F32, {0}}),
               {});
  // f32 sums run in f64: 1 + 2^-30 many times does not stand still.
  Values steps(1025, 0x1p-30);
  steps[0] = 1;
  EXPECT_EQ(
      values(cumulative("cumsum", 0)
                 .run({make(DType::F32, {1025}, steps)}, {DType::F32, {1025}}))
          .back(),
      1 + 0x1p-20);
}

struct TopK {
  Values values, indices;
};

TopK topK(const Tensor &in, int64_t k, int64_t dim, bool largest) {
  Op op = Op("top_k").attr("k", k).attr("dim", dim).attr("largest", largest);
  Shape shape = in.shape();
  shape[dim] = k;
  auto results = op.tryRun({in}, {{in.dtype(), shape}, {DType::I64, shape}});
  EXPECT_TRUE(results.ok()) << results.status().message();
  return results.ok() ? TopK{values((*results)[0]), values((*results)[1])}
                      : TopK();
}

TEST(ScanTest, TopK) {
  for (DType dtype : kNums) {
    SCOPED_TRACE(dtypeName(dtype));
    const Tensor in = make(dtype, {2, 4}, {3, 9, 9, 1, 5, 1, 1, 4});
    TopK top = topK(in, 2, 1, true);
    EXPECT_EQ(top.values, (Values{9, 9, 5, 4}));
    EXPECT_EQ(top.indices, (Values{1, 2, 0, 3}));
    top = topK(in, 3, 1, false);
    EXPECT_EQ(top.values, (Values{1, 3, 9, 1, 1, 4}));
    EXPECT_EQ(top.indices, (Values{3, 0, 1, 1, 2, 3}));
    top = topK(in, 1, 0, true);
    EXPECT_EQ(top.values, (Values{5, 9, 9, 4}));
    EXPECT_EQ(top.indices, (Values{1, 0, 0, 1}));
    EXPECT_EQ(topK(in, 4, 1, true).indices, (Values{1, 2, 0, 3, 0, 3, 1, 2}));
    EXPECT_TRUE(topK(in, 0, 1, true).values.empty());
  }
  for (DType dtype : kFloats) {
    const Tensor in = make(dtype, {4}, {1, kNan, 5, kNan});
    EXPECT_EQ(topK(in, 4, 0, true).indices, (Values{1, 3, 2, 0}));
    EXPECT_EQ(topK(in, 4, 0, false).indices, (Values{0, 2, 1, 3}));
    EXPECT_EQ(topK(in, 1, 0, true).indices, (Values{1}));
  }
}

TEST(ScanTest, TopKOfManyIsAStableSort) {
  const Tensor in = random(DType::I32, {1000}, 5, 20);
  const Values x = values(in);
  std::vector<int64_t> order(1000);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return x[a] > x[b]; });
  for (int64_t k : {10, 250, 251, 1000})
    EXPECT_EQ(topK(in, k, 0, true).indices,
              Values(order.begin(), order.begin() + k));
}

} // namespace
