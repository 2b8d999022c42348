// Gradients of reductions, running combinations and top_k.
#include "test/unit/passes/differentiate/GradientCheck.h"

#include <gtest/gtest.h>

namespace pipec::test {
namespace {

// Distinct, so that no step changes which is an extreme.
const Numbers kDistinct = {0.7,  -1.3, 2.1,  -0.4, 1.9,  -2.6, 0.15, 0.95,
                           -0.9, 1.7,  0.6,  -2.2, 1.1,  -1.6, 0.3,  2.4,
                           -0.2, 1.4,  -2.9, 0.45, -0.6, 2.7,  3.1,  -3.3};
const Numbers kTies = {1, 2, 2, -1, 5, 5, 0, 0, -3, 4};
const Numbers kZeros = {0.7, 0, 1.3, -0.4, 0, 0, 2.1, -1.2, 0, 0.9, 1.1, -0.6};

void addReductions(GradientCases &cases) {
  const char *const forms[][2] = {
      {"[]", "2x3x4"},   {"[1]", "2x4"},           {"[1] keep", "2x1x4"},
      {"[0, 2]", "3"},   {"[0, 2] keep", "1x3x1"}, {"[2]", "2x3"},
      {"[0, 1, 2]", ""}, {"[1, 2] keep", "2x1x1"}};
  for (const char *kind : {"sum", "mean", "prod", "max", "min"})
    for (const auto &[dims, shape] : forms) {
      const std::string result = std::string(shape) + (*shape ? "xf64" : "f64");
      cases.push_back({std::string("pipe.reduce ") + kind + " %a dims " + dims +
                           " : (tensor<2x3x4xf64>) -> tensor<" + result + ">",
                       {kDistinct}});
    }
  for (const char *kind : {"max", "min"})
    for (const char *form : {"dims [1]", "dims [1] keep"})
      cases.push_back(
          {std::string("pipe.reduce ") + kind + " %a " + form +
               " {select_first} : (tensor<2x3x4xf64>) -> tensor<2x" +
               (form[8] ? "1x" : "") + "4xf64>",
           {kDistinct}});
  for (const char *kind : {"max", "min"})
    cases.push_back({std::string("pipe.reduce ") + kind +
                         " %a dims [1] : (tensor<5x2xf64>) -> tensor<5xf64>",
                     {kTies}});
  cases.push_back({"pipe.reduce prod %a dims [0, 2] : (tensor<2x3x2xf64>) -> "
                   "tensor<3xf64>",
                   {kZeros}});
  cases.push_back(
      {"pipe.reduce prod %a dims [] : (tensor<f64>) -> tensor<f64>"});
  cases.push_back(
      {"pipe.reduce sum %a dims [0] : (tensor<0x2xf64>) -> tensor<2xf64>"});
  cases.push_back(
      {"pipe.reduce prod %a dims [0] : (tensor<0x2xf64>) -> tensor<2xf64>"});
}

void addRunning(GradientCases &cases) {
  for (const char *form : {"", " exclusive", " reverse", " exclusive reverse"})
    for (const char *dim : {"0", "1"}) {
      const std::string type = "tensor<3x4xf64>";
      const std::string rest =
          std::string(" %a dim ") + dim + form + " : (" + type + ") -> " + type;
      cases.push_back({"pipe.cumulative cumsum" + rest});
      cases.push_back({"pipe.cumulative cumprod" + rest, {kDistinct}});
      cases.push_back({"pipe.cumulative cumprod" + rest, {kZeros}});
    }
}

GradientCases makeCases() {
  GradientCases cases;
  addReductions(cases);
  addRunning(cases);
  for (const char *way : {"", " {largest = false}"}) {
    const std::string end = std::string(way) + " : (tensor<3x4xf64>) -> ";
    cases.push_back(
        {"pipe.top_k %a k 2 dim 1" + end + "(tensor<3x2xf64>, tensor<3x2xi64>)",
         {kDistinct}});
    cases.push_back(
        {"pipe.top_k %a k 3 dim 0" + end + "(tensor<3x4xf64>, tensor<3x4xi64>)",
         {kDistinct}});
    cases.push_back(
        {"pipe.top_k %a k 0 dim 0" + end + "(tensor<0x4xf64>, tensor<0x4xi64>)",
         {kDistinct}});
  }
  return cases;
}

} // namespace

const GradientCases &reduceCases() {
  static const GradientCases cases = makeCases();
  return cases;
}

TEST(ReduceDerivatives, AreTheDifferences) { checkGradients(reduceCases()); }

} // namespace pipec::test
