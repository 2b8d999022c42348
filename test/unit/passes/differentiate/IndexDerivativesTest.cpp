// Gradients of gather, scatter and resize.
#include "test/unit/passes/differentiate/GradientCheck.h"

#include <gtest/gtest.h>

namespace pipec::test {
namespace {

void addGathers(GradientCases &cases) {
  const Numbers rows = {0, -1, 2, 2, 1, -3}; // negative and repeated
  cases.push_back({"pipe.gather %a, %b dim 0 : (tensor<4x3xf64>, "
                   "tensor<2x3xi64>) -> tensor<2x3x3xf64>",
                   {{}, rows}});
  cases.push_back({"pipe.gather %a, %b dim 1 : (tensor<2x4x3xf64>, "
                   "tensor<5xi32>) -> tensor<2x5x3xf64>",
                   {{}, rows}});
  cases.push_back({"pipe.gather %a, %b dim 2 : (tensor<2x1x3xf64>, "
                   "tensor<2x2xi64>) -> tensor<2x1x2x2xf64>",
                   {{}, rows}});
  cases.push_back({"pipe.gather %a, %b dim 1 : (tensor<2x4xf64>, tensor<i64>) "
                   "-> tensor<2xf64>",
                   {{}, {-2}}});
  cases.push_back({"pipe.gather %a, %b dim 0 : (tensor<4x3xf64>, "
                   "tensor<0xi64>) -> tensor<0x3xf64>"});
  // Where the padding is not read it changes nothing; where it is,
  // test/e2e/cli/findings.test.
  for (int padding : {0, 3, 4})
    cases.push_back({"pipe.gather %a, %b dim 1 {padding_index = " +
                         std::to_string(padding) +
                         " : i64} : (tensor<2x5x3xf64>, tensor<4xi64>) -> "
                         "tensor<2x4x3xf64>",
                     {{}, {1, 2, -3, 2}}});
  cases.push_back({"pipe.gather_elements %a, %b dim 0 : (tensor<4x3xf64>, "
                   "tensor<2x3xi64>) -> tensor<2x3xf64>",
                   {{}, rows}});
  cases.push_back({"pipe.gather_elements %a, %b dim 1 : (tensor<4x3xf64>, "
                   "tensor<2x5xi32>) -> tensor<2x5xf64>",
                   {{}, rows}});
  cases.push_back({"pipe.gather_nd %a, %b : (tensor<4x3x2xf64>, "
                   "tensor<3x2xi64>) -> tensor<3x2xf64>",
                   {{}, {0, -1, 2, 2, 0, -1}}});
  cases.push_back({"pipe.gather_nd %a, %b : (tensor<4x3xf64>, tensor<1xi32>) "
                   "-> tensor<3xf64>",
                   {{}, {-2}}});
  cases.push_back({"pipe.gather_nd %a, %b {batch_dims = 1} : "
                   "(tensor<2x3x2xf64>, tensor<2x4x1xi32>) -> "
                   "tensor<2x4x2xf64>",
                   {{}, {0, 2, -1, 1, 1, 1, 0, -3}}});
  cases.push_back({"pipe.gather_nd %a, %b {batch_dims = 1} : "
                   "(tensor<2x3x2xf64>, tensor<2x1xi64>) -> tensor<2x2xf64>",
                   {{}, {0, -1}}});
  cases.push_back({"pipe.gather_nd %a, %b {batch_dims = 2} : "
                   "(tensor<2x3x4xf64>, tensor<2x3x2x1xi64>) -> "
                   "tensor<2x3x2xf64>",
                   {{}, {0, -1, 3, 3, 1, 2, 2}}});
}

// Updates that overwrite each other are left out: there the gradient is, as
// ATen's, not the derivative.
void addScatters(GradientCases &cases) {
  for (const char *kind : {"set", "add"}) {
    const std::string elements = std::string("pipe.scatter_elements ") + kind +
                                 " %a, %b, %c dim ",
                      nd = std::string("pipe.scatter_nd ") + kind +
                           " %a, %b, %c : ";
    cases.push_back({elements + "0 : (tensor<4x3xf64>, tensor<2x3xi64>, "
                                "tensor<2x3xf64>) -> tensor<4x3xf64>",
                     {{}, {0, -1, 2, 3, 1, -3}}});
    cases.push_back({elements + "1 : (tensor<4x3xf64>, tensor<3x2xi32>, "
                                "tensor<3x2xf64>) -> tensor<4x3xf64>",
                     {{}, {0, -1, 2, 1, -3, 1}}});
    cases.push_back({nd + "(tensor<4x3xf64>, tensor<2x1xi64>, "
                          "tensor<2x3xf64>) -> tensor<4x3xf64>",
                     {{}, {-1, 1}}});
    cases.push_back({nd + "(tensor<4x3x2xf64>, tensor<2x2x2xi32>, "
                          "tensor<2x2x2xf64>) -> tensor<4x3x2xf64>",
                     {{}, {0, 1, -1, 2, 3, 0, 2, -1}}});
    cases.push_back({nd + "(tensor<4xf64>, tensor<1xi64>, tensor<f64>) -> "
                          "tensor<4xf64>",
                     {{}, {2}}});
  }
  cases.push_back({"pipe.scatter_elements add %a, %b, %c dim 0 : "
                   "(tensor<4x1xf64>, tensor<3x1xi64>, tensor<3x1xf64>) -> "
                   "tensor<4x1xf64>",
                   {{}, {2, 2, -2}}});
  cases.push_back({"pipe.scatter_nd add %a, %b, %c : (tensor<4x2xf64>, "
                   "tensor<3x1xi64>, tensor<3x2xf64>) -> tensor<4x2xf64>",
                   {{}, {2, 2, -2}}});
}

// Places written once, several times and never; two equal extremes, of which
// differences give each a half; factors that are 0 alone, and beside another.
void addScatterReductions(GradientCases &cases) {
  const Numbers places = {0, 3, 0, -4, 1, 1, 3, 3};
  for (const char *kind : {"max", "min", "mul"}) {
    const bool mul = std::string(kind) == "mul";
    const Numbers x = mul ? Numbers{0, 1.3, -0.7, 0, 0.4}
                          : Numbers{0.5, -1.2, 0.3, 0.9, 2},
                  updates = mul ? Numbers{0.6, 0, -1.1, 2, 0.8, 0, 0.3, 0}
                                : Numbers{0.5, 0.9, 0.1, 0.2, 1.4, 1.4, -2, 1};
    const std::string elements =
        std::string("pipe.scatter_elements ") + kind + " %a, %b, %c dim ";
    cases.push_back({elements + "0 : (tensor<5xf64>, tensor<8xi64>, "
                                "tensor<8xf64>) -> tensor<5xf64>",
                     {x, {0, 3, 0, -5, 1, 1, 3, 3}, updates}});
    cases.push_back({elements + "1 : (tensor<2x4xf64>, tensor<2x4xi32>, "
                                "tensor<2x4xf64>) -> tensor<2x4xf64>",
                     {x, places, updates}});
    const std::string nd =
        std::string("pipe.scatter_nd ") + kind + " %a, %b, %c : ";
    cases.push_back({nd + "(tensor<5x1xf64>, tensor<8x1xi64>, "
                          "tensor<8x1xf64>) -> tensor<5x1xf64>",
                     {x, {0, 3, 0, -5, 1, 1, 3, 3}, updates}});
    cases.push_back({nd + "(tensor<2x4xf64>, tensor<4x2xi32>, "
                          "tensor<4xf64>) -> tensor<2x4xf64>",
                     {x, {0, 3, 1, -4, 0, 3, -1, 1}, updates}});
  }
}

void addResizes(GradientCases &cases) {
  const char *const to[][2] = {
      {"[1, 2, 5, 7] scales [1.0, 1.0, 1.6666666666666667, 1.75]", "1x2x5x7"},
      {"[1, 2, 2, 3] scales [1.0, 1.0, 0.6666666666666666, 0.75]", "1x2x2x3"},
      {"[1, 2, 1, 4] scales [1.0, 1.0, 0.3333333333333333, 1.0]", "1x2x1x4"}};
  for (const char *mode : {"nearest", "linear", "cubic"})
    for (const char *coordinates :
         {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel",
          "half_pixel_symmetric"})
      for (const auto &[how, shape] : to)
        cases.push_back({std::string("pipe.resize ") + mode + " %a to " + how +
                         " {coordinates = #pipe<resize_coordinates " +
                         coordinates + ">} : (tensor<1x2x3x4xf64>) -> tensor<" +
                         shape + "xf64>"});
  const std::string end = " : (tensor<2x4xf64>) -> tensor<2x7xf64>",
                    start = " %a to [2, 7] scales [1.0, 1.75] {";
  for (const char *rounding :
       {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})
    cases.push_back({"pipe.resize nearest" + start +
                     "coordinates = #pipe<resize_coordinates asymmetric>, "
                     "rounding = #pipe<resize_rounding " +
                     rounding + ">}" + end});
  cases.push_back({"pipe.resize cubic" + start +
                   "cubic_coeff = -0.5 : f64, exclude_outside = true}" + end});
}

GradientCases makeCases() {
  GradientCases cases;
  addGathers(cases);
  addScatters(cases);
  addScatterReductions(cases);
  addResizes(cases);
  return cases;
}

} // namespace

const GradientCases &indexCases() {
  static const GradientCases cases = makeCases();
  return cases;
}

TEST(IndexDerivatives, AreTheDifferences) { checkGradients(indexCases()); }

} // namespace pipec::test
