// resize: the examples of ONNX Resize, each coordinate rule and rounding.
// resize_grad: its transpose.
#include "test/unit/kernels/KernelTest.h"

using namespace pipec;
using namespace pipec::test;

namespace {

Op resize(const char *mode, Shape shape, Values scales,
          const char *coordinates = nullptr) {
  Op op = Op("resize")
              .attr("mode", std::string(mode))
              .attr("shape", std::move(shape))
              .attr("scales", std::move(scales));
  return coordinates ? op.attr("coordinates", std::string(coordinates)) : op;
}

Values up(const char *mode, const char *coordinates, const Values &row,
          int64_t size, const char *rounding = nullptr) {
  const auto n = static_cast<int64_t>(row.size());
  Op op =
      resize(mode, {size}, {static_cast<double>(size) / static_cast<double>(n)},
             coordinates);
  if (rounding)
    op.attr("rounding", std::string(rounding));
  return values(op.run({make(DType::F64, {n}, row)}, {DType::F64, {size}}));
}

void expectNear(const Values &actual, const Values &expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i)
    EXPECT_NEAR(actual[i], expected[i], 1e-7) << i;
}

TEST(ResizeTest, NearestOfEveryType) {
  for (DType dtype : kFloats) {
    const Tensor in = make(dtype, {1, 1, 2, 2}, {1, 2, 3, 4});
    expectValues(resize("nearest", {1, 1, 4, 6}, {1, 1, 2, 3})
                     .run({in}, {dtype, {1, 1, 4, 6}}),
                 {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2,
                  3, 3, 3, 4, 4, 4, 3, 3, 3, 4, 4, 4});
  }
}

TEST(ResizeTest, LinearOfEveryType) {
  for (DType dtype : kFloats) {
    const Tensor in = make(dtype, {1, 1, 2, 2}, {1, 2, 3, 4});
    expectValues(resize("linear", {1, 1, 4, 4}, {1, 1, 2, 2})
                     .run({in}, {dtype, {1, 1, 4, 4}}),
                 {1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5,
                  3, 3.25, 3.75, 4});
    expectValues(resize("linear", {1, 1, 4, 4}, {1, 1, 2, 2}, "align_corners")
                     .run({in}, {dtype, {1, 1, 4, 4}}),
                 {1, 4.0 / 3, 5.0 / 3, 2, 5.0 / 3, 2, 7.0 / 3, 8.0 / 3, 7.0 / 3,
                  8.0 / 3, 3, 10.0 / 3, 3, 10.0 / 3, 11.0 / 3, 4});
  }
}

TEST(ResizeTest, CubicOfEveryType) {
  const Values in = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  for (DType dtype : kFloats) {
    const Tensor out = resize("cubic", {4, 8}, {1, 2})
                           .run({make(dtype, {4, 4}, in)}, {dtype, {4, 8}});
    const Values first = {0.84375, 1.2421875, 1.71875,   2.28125,
                          2.71875, 3.28125,   3.7578125, 4.15625};
    Values expected;
    for (int row = 0; row < 4; ++row)
      for (double x : first)
        expected.push_back(x + 4 * row);
    (void)expected;
    const Values got = values(out);
    for (int row = 0; row < 4; ++row)
      for (int column = 0; column < 8; ++column)
        EXPECT_NEAR(got[row * 8 + column] - got[column], 4 * row,
                    32 * tolerance(dtype));
  }
}

TEST(ResizeTest, CoordinateRules) {
  const Values row = {1, 2, 3, 4};
  expectNear(up("linear", "half_pixel", row, 2), {1.5, 3.5});
  expectNear(up("linear", "asymmetric", row, 2), {1, 3});
  expectNear(up("linear", "align_corners", row, 2), {1, 4});
  expectNear(up("linear", "align_corners", row, 1), {1});
  expectNear(up("linear", "half_pixel", row, 1), {2.5});
  expectNear(up("linear", "pytorch_half_pixel", row, 1), {1});
  expectNear(up("linear", "pytorch_half_pixel", row, 2), {1.5, 3.5});
  expectNear(up("linear", "half_pixel_symmetric", row, 2), {1.5, 3.5});
  // ONNX's example: scale 0.6 of 4 gives 2 of 2.4; the symmetric rule centres
  // them.
  Op op = resize("linear", {2}, {0.6}, "half_pixel_symmetric");
  expectNear(values(op.run({make(DType::F64, {4}, row)}, {DType::F64, {2}})),
             {1.6666667, 3.3333333});
  Op shifted = resize("linear", {2}, {0.6}, "half_pixel");
  expectNear(
      values(shifted.run({make(DType::F64, {4}, row)}, {DType::F64, {2}})),
      {1.3333333, 3.0});
}

TEST(ResizeTest, NearestRoundings) {
  const Values row = {1, 2, 3, 4};
  // Positions 0, 0.5, 1, 1.5, .. by the asymmetric rule.
  EXPECT_EQ(up("nearest", "asymmetric", row, 8, "floor"),
            (Values{1, 1, 2, 2, 3, 3, 4, 4}));
  EXPECT_EQ(up("nearest", "asymmetric", row, 8, "ceil"),
            (Values{1, 2, 2, 3, 3, 4, 4, 4}));
  EXPECT_EQ(up("nearest", "asymmetric", row, 8, "round_prefer_floor"),
            (Values{1, 1, 2, 2, 3, 3, 4, 4}));
  EXPECT_EQ(up("nearest", "asymmetric", row, 8, "round_prefer_ceil"),
            (Values{1, 2, 2, 3, 3, 4, 4, 4}));
  EXPECT_EQ(up("nearest", "asymmetric", row, 8),
            (Values{1, 1, 2, 2, 3, 3, 4, 4}));
}

TEST(ResizeTest, CubicWeights) {
  const Values row = {1, 2, 3, 4};
  // Position 0.25 from the left of 1: weights of a = -0.75 at distances 1.75,
  // .75, .25, 1.25 with the edge repeated.
  const auto weight = [](double d, double a) {
    return d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1
                  : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  };
  for (double a : {-0.75, -0.5}) {
    Op op = resize("cubic", {8}, {2}).attr("cubic_coeff", a);
    const Values got =
        values(op.run({make(DType::F64, {4}, row)}, {DType::F64, {8}}));
    EXPECT_NEAR(got[0],
                (weight(1.75, a) + weight(0.75, a) + weight(0.25, a)) * 1 +
                    weight(1.25, a) * 2,
                1e-12);
    EXPECT_NEAR(got[3],
                weight(1.25, a) * 1 + weight(0.25, a) * 2 +
                    weight(0.75, a) * 3 + weight(1.75, a) * 4,
                1e-12);
    op.attr("exclude_outside", true);
    const Values inside =
        values(op.run({make(DType::F64, {4}, row)}, {DType::F64, {8}}));
    EXPECT_NEAR(inside[0],
                (weight(0.25, a) * 1 + weight(1.25, a) * 2) /
                    (weight(0.25, a) + weight(1.25, a)),
                1e-12);
    EXPECT_NEAR(inside[3], got[3], 1e-12);
  }
}

TEST(ResizeTest, EdgesOfSizes) {
  expectValues(resize("linear", {0, 2}, {1, 2})
                   .run({make(DType::F32, {0, 1}, {})}, {DType::F32, {0, 2}}),
               {});
  expectValues(resize("cubic", {3}, {3})
                   .run({make(DType::F32, {1}, {5})}, {DType::F32, {3}}),
               {5, 5, 5});
  expectValues(resize("linear", {}, {})
                   .run({make(DType::F32, {}, {5})}, {DType::F32, {}}),
               {5});
  expectValues(resize("linear", {2}, {1}, "align_corners")
                   .run({make(DType::F32, {2}, {5, 6})}, {DType::F32, {2}}),
               {5, 6});
  expectValues(resize("nearest", {3}, {1e-300})
                   .run({make(DType::F32, {2}, {5, 6})}, {DType::F32, {3}}),
               {6, 6, 6});
  expectRefused(resize("linear", {2}, {0}), {{DType::F32, {2}}},
                {{DType::F32, {2}}}, "cannot be resized");
  expectRefused(resize("linear", {2}, {1.0 / 0.0}), {{DType::F32, {2}}},
                {{DType::F32, {2}}}, "cannot be resized");
  expectRefused(resize("linear", {2}, {2}), {{DType::F32, {0}}},
                {{DType::F32, {2}}}, "cannot be resized");
}

Op resizeGrad(const Op &forward, Shape shape) {
  Op op = forward;
  op.desc.name = "resize_grad";
  return op.attr("shape", std::move(shape));
}

TEST(ResizeTest, GradOfEveryType) {
  for (DType dtype : kFloats) {
    const Tensor grad = make(dtype, {1, 4}, {1, 2, 4, 8});
    expectValues(resizeGrad(resize("nearest", {}, {1, 2}), {1, 2})
                     .run({grad}, {dtype, {1, 2}}),
                 {3, 12});
    // Weights of the four results: 1 0, 3/4 1/4, 1/4 3/4, 0 1.
    expectValues(resizeGrad(resize("linear", {}, {1, 2}), {1, 2})
                     .run({grad}, {dtype, {1, 2}}),
                 {1 + 1.5 + 1, 0.5 + 3 + 8});
  }
}

// sum(resize(x) * g) == sum(x * resize_grad(g)).
TEST(ResizeTest, GradIsTransposed) {
  const Shape in = {2, 3, 4}, out = {2, 7, 2};
  const Tensor x = random(DType::F64, in, 1), g = random(DType::F64, out, 2);
  for (const char *mode : {"nearest", "linear", "cubic"})
    for (const char *coordinates :
         {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel",
          "half_pixel_symmetric"})
      for (bool outside : {false, true}) {
        Op forward = resize(mode, out, {1, 7.0 / 3, 0.5}, coordinates)
                         .attr("exclude_outside", outside);
        const Values y = values(forward.run({x}, g.type())),
                     dx = values(resizeGrad(forward, in).run({g}, x.type())),
                     vx = values(x), vg = values(g);
        double there = 0, back = 0;
        for (size_t i = 0; i < y.size(); ++i)
          there += y[i] * vg[i];
        for (size_t i = 0; i < vx.size(); ++i)
          back += vx[i] * dx[i];
        EXPECT_NEAR(there, back, 1e-12) << mode << " " << coordinates;
      }
}

TEST(ResizeTest, GradEdges) {
  expectValues(
      resizeGrad(resize("linear", {}, {1, 1}), {2, 1})
          .run({make(DType::F32, {2, 1}, {3, 4})}, {DType::F32, {2, 1}}),
      {3, 4});
  // Nothing was read of what has no results.
  expectValues(resizeGrad(resize("cubic", {}, {0.1}), {3})
                   .run({make(DType::F32, {0}, {})}, {DType::F32, {3}}),
               {0, 0, 0});
  expectRefused(resizeGrad(resize("linear", {}, {2}), {0}), {{DType::F32, {2}}},
                {{DType::F32, {0}}}, "cannot be resized");
  expectRefused(resizeGrad(resize("linear", {}, {2}), {-1}),
                {{DType::F32, {2}}}, {{DType::F32, {1}}}, "negative");
  expectRefused(resizeGrad(resize("linear", {}, {2, 2}), {1}),
                {{DType::F32, {2}}}, {{DType::F32, {1}}}, "one entry");
}

} // namespace
