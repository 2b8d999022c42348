// max_pool_grad and avg_pool_grad: hand-made windows, ties, NaN, padding, and
// that they are the transposes of their pools.
#include "test/unit/kernels/PoolOps.h"

using namespace pipec;
using namespace pipec::test;

namespace {

TEST(PoolGradTest, MaxOfEveryType) {
  for (DType dtype : kFloats) {
    const Tensor in =
        make(dtype, {1, 1, 3, 4}, {1, 5, 2, 3, 9, 4, 7, 8, 6, 2, 1, 0});
    const Tensor grad = make(dtype, {1, 1, 2, 2}, {1, 2, 4, 8});
    // Windows may overlap: both rows of windows choose from the middle row.
    expectValues(pool("max_pool_grad", {2, 2}, {1, 2}, {0, 0, 0, 0}, {1, 1})
                     .run({in, grad}, in.type()),
                 {0, 0, 0, 0, 5, 0, 0, 10, 0, 0, 0, 0});
    expectValues(pool("max_pool_grad", {2, 2}, {2, 2}, {1, 0, 1, 0}, {1, 1})
                     .run({in, grad}, in.type()),
                 {0, 1, 0, 2, 4, 0, 0, 8, 0, 0, 0, 0});
  }
}

TEST(PoolGradTest, TiesNaNAndInfinity) {
  const auto gradOf = [](const Values &row, const Values &grad) {
    const auto n = static_cast<int64_t>(row.size()),
               m = static_cast<int64_t>(grad.size());
    const Tensor in = make(DType::F32, {1, 1, n}, row);
    return values(pool("max_pool_grad", {n - m + 1}, {1}, {0, 0}, {1})
                      .run({in, make(DType::F32, {1, 1, m}, grad)}, in.type()));
  };
  EXPECT_EQ(gradOf({2, 2, 2}, {1}), (Values{1, 0, 0})) << "the first of equals";
  EXPECT_EQ(gradOf({1, kNan, 3, kNan}, {1}), (Values{0, 1, 0, 0}));
  EXPECT_EQ(gradOf({kNan, 3, kInf}, {1}), (Values{1, 0, 0}));
  EXPECT_EQ(gradOf({-kInf, -kInf}, {1}), (Values{1, 0}));
  EXPECT_EQ(gradOf({0, -0.0}, {1}), (Values{1, 0}));
}

TEST(PoolGradTest, AverageOfEveryType) {
  for (DType dtype : kFloats) {
    const TensorType in{dtype, {1, 1, 2, 3}};
    const Tensor grad = make(dtype, {1, 1, 2, 2}, {4, 8, 16, 32});
    Op op = pool("avg_pool_grad", {2, 2}, {2, 2}, {1, 1, 1, 0}, {1, 1})
                .attr("shape", Shape{1, 1, 2, 3});
    expectValues(op.run({grad}, in), {4, 4, 4, 16, 16, 16});
    op.attr("count_include_pad", true);
    expectValues(op.run({grad}, in), {1, 2, 2, 4, 8, 8});
  }
}

TEST(PoolGradTest, WindowsWhollyInThePadding) {
  const Tensor in = make(DType::F32, {1, 1, 1}, {4}),
               grad = make(DType::F32, {1, 1, 3}, {1, 2, 4});
  expectValues(
      pool("max_pool_grad", {1}, {1}, {1, 1}, {1}).run({in, grad}, in.type()),
      {2});
  expectValues(pool("avg_pool_grad", {1}, {1}, {1, 1}, {1})
                   .attr("shape", Shape{1, 1, 1})
                   .run({grad}, in.type()),
               {2});
}

TEST(PoolGradTest, CeilModeCountsWhatThePoolCounts) {
  // Windows {1, 2, 3}, {3, 4, 5}, {5}: the last goes beyond the end.
  const TensorType in{DType::F64, {1, 1, 5}};
  const Tensor grad = make(DType::F64, {1, 1, 3}, {3, 6, 12});
  Op op = pool("avg_pool_grad", {3}, {2}, {0, 1}, {1})
              .attr("shape", Shape{1, 1, 5})
              .attr("ceil_mode", true);
  expectValues(op.run({grad}, in), {1, 1, 3, 2, 14});
  // With the padding of one the last window has two elements that count.
  op.attr("count_include_pad", true);
  expectValues(op.run({grad}, in), {1, 1, 3, 2, 8});
}

// sum(pool(x) * g) == sum(x * pool_grad(g)) for a linear pool, which the
// average is.
TEST(PoolGradTest, AverageIsTransposed) {
  for (bool counted : {false, true})
    for (bool ceil : {false, true}) {
      const auto with = [&](const char *name) {
        return pool(name, {2, 3, 2}, {2, 2, 1}, {1, 0, 0, 0, 1, 1}, {1, 1, 2})
            .attr("count_include_pad", counted)
            .attr("ceil_mode", ceil);
      };
      const Shape out = {2, 2, ceil ? 3 : 2, ceil ? 3 : 2, 4};
      const Tensor x = random(DType::F64, {2, 2, 4, 5, 5}, 1),
                   g = random(DType::F64, out, 2);
      const Tensor y = with("avg_pool").run({x}, g.type());
      const Tensor dx = with("avg_pool_grad")
                            .attr("shape", x.type().shape)
                            .run({g}, x.type());
      const Values vx = values(x), vg = values(g), vy = values(y),
                   vdx = values(dx);
      double forward = 0, backward = 0;
      for (size_t i = 0; i < vy.size(); ++i)
        forward += vy[i] * vg[i];
      for (size_t i = 0; i < vx.size(); ++i)
        backward += vx[i] * vdx[i];
      EXPECT_NEAR(forward, backward, 1e-12);
    }
}

TEST(PoolGradTest, Refused) {
  const TensorType in{DType::F32, {1, 2, 4, 4}}, grad{DType::F32, {1, 2, 3, 3}};
  const Op max = pool("max_pool_grad", {2, 2}, {1, 1}, {0, 0, 0, 0}, {1, 1});
  const Op average = pool("avg_pool_grad", {2, 2}, {1, 1}, {0, 0, 0, 0}, {1, 1})
                         .attr("shape", Shape{1, 2, 4, 4});
  expectRefused(max, {in, {DType::F32, {1, 2, 2, 3}}}, {in}, "the gradient is");
  expectRefused(max, {in, {DType::F64, {1, 2, 3, 3}}}, {in},
                "differ in element type");
  expectRefused(max, {in, grad}, {grad});
  expectRefused(average, {in}, {in}, "the gradient is");
  expectRefused(Op(average).attr("shape", Shape{1, 2, 4, -4}), {grad}, {in},
                "negative");
  expectRefused(Op(average).attr("shape", Shape{4, 4}), {grad}, {in});
  const int64_t most = std::numeric_limits<int64_t>::max();
  expectRefused(Op(average).attr("shape", Shape{most, most, 4, 4}), {grad},
                {in});
}

} // namespace
