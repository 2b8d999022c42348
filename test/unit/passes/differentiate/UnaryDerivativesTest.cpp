// Gradients of unary elementwise ops and of convert.
#include "test/unit/passes/differentiate/GradientCheck.h"

#include <gtest/gtest.h>

namespace pipec::test {
namespace {

GradientCase unary(const std::string &name, double low, double high,
                   const std::string &attributes = "") {
  return {"pipe." + name + " %a" + attributes +
              " : (tensor<3x4xf64>) -> tensor<3x4xf64>",
          {},
          low,
          high};
}

// An element apart from where a derivative has a kink or a pole.
GradientCase at(const std::string &name, Numbers values) {
  GradientCase test = unary(name, 0, 0);
  test.values = {std::move(values)};
  return test;
}

} // namespace

const GradientCases &unaryCases() {
  static const GradientCases cases = {
      at("abs", {-2, -0.5, 0, 0.25, 3}), // ATen: 0 at 0
      unary("neg", -2, 2),
      at("relu", {-2, -0.5, 0.25, 3}),
      unary("sqrt", 0.1, 4),
      unary("sqrt", 0.1, 4, " {flat_at_zero}"),
      unary("reciprocal", 0.3, 3),
      unary("reciprocal", -3, -0.3),
      unary("rsqrt", 0.2, 4),
      unary("exp", -3, 3),
      unary("expm1", -3, 3),
      unary("log", 0.1, 5),
      unary("log1p", -0.8, 4),
      unary("sin", -4, 4),
      unary("cos", -4, 4),
      unary("tan", -1.2, 1.2),
      unary("asin", -0.9, 0.9),
      unary("acos", -0.9, 0.9),
      unary("atan", -4, 4),
      unary("sinh", -3, 3),
      unary("cosh", -3, 3),
      unary("tanh", -3, 3),
      unary("asinh", -4, 4),
      unary("acosh", 1.2, 5),
      unary("atanh", -0.9, 0.9),
      unary("erf", -2, 2),
      unary("sigmoid", -6, 6),
      unary("silu", -6, 6),
      unary("softplus", -6, 6),
      at("sign", {-2, -0.5, 0.25, 3}),
      at("floor", {-2.25, -0.5, 0.25, 3.5}),
      at("ceil", {-2.25, -0.5, 0.25, 3.5}),
      at("round", {-2.25, -0.75, 0.25, 3.75}),
      at("softplus", {-40, -25, 19, 21, 40}),
      unary("gelu", -4, 4),
      unary("gelu", -4, 4, " {tanh_approximation = true}"),
      {"pipe.convert %a : (tensor<5xf32>) -> tensor<5xf64>",
       {{0.5, -1.25, 2, -3, 8}},
       0,
       0,
       1e-6,
       0.0625},
      {"pipe.convert %a : (tensor<5xf64>) -> tensor<5xf32>",
       {{0.5, -1.25, 2, -3, 8}},
       0,
       0,
       1e-6,
       0.0625},
      {"pipe.exp %a : (tensor<f64>) -> tensor<f64>"},
  };
  return cases;
}

TEST(UnaryDerivatives, AreTheDifferences) { checkGradients(unaryCases()); }

} // namespace pipec::test
