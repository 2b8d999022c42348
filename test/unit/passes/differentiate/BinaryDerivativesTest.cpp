// Gradients of binary elementwise ops and select, and of what broadcasts.
#include "test/unit/passes/differentiate/GradientCheck.h"

#include <gtest/gtest.h>

namespace pipec::test {
namespace {

struct Broadcast {
  std::string lhs, rhs, result;
};
const Broadcast kBroadcasts[] = {
    {"2x3xf64", "2x3xf64", "2x3xf64"},     {"2x3xf64", "3xf64", "2x3xf64"},
    {"3xf64", "2x3xf64", "2x3xf64"},       {"2x1xf64", "1x3xf64", "2x3xf64"},
    {"f64", "2x3xf64", "2x3xf64"},         {"2x3xf64", "f64", "2x3xf64"},
    {"2x1x2xf64", "3x1xf64", "2x3x2xf64"}, {"1x1xf64", "1x3xf64", "1x3xf64"},
    {"2x0xf64", "2x1xf64", "2x0xf64"},
};

void everyWay(GradientCases &cases, const std::string &op, Numbers lhs,
              Numbers rhs) {
  for (const Broadcast &b : kBroadcasts)
    cases.push_back({"pipe." + op + " %a, %b : (tensor<" + b.lhs +
                         ">, tensor<" + b.rhs + ">) -> tensor<" + b.result +
                         ">",
                     {lhs, rhs}});
}

GradientCase pair(const std::string &op, Numbers lhs, Numbers rhs) {
  const std::string type = "tensor<" + std::to_string(lhs.size()) + "xf64>";
  return {"pipe." + op + " %a, %b : (" + type + ", " + type + ") -> " + type,
          {std::move(lhs), std::move(rhs)}};
}

GradientCases makeCases() {
  GradientCases cases;
  const Numbers a = {0.7, -1.3, 2.1, -0.4, 1.9, -2.6, 0.15},
                b = {-0.9, 1.7, 0.6, -2.2, 1.1};
  for (const char *op : {"add", "sub", "mul", "div", "maximum", "minimum",
                         "atan2", "remainder trunc", "remainder floor"})
    everyWay(cases, op, a, b);
  everyWay(cases, "pow", {0.7, 1.3, 2.1, 0.4, 1.9}, b);
  // Equal operands: a difference over the kink is the mean of both sides.
  cases.push_back(pair("maximum", {1, 2, -3}, {1, 5, -3}));
  cases.push_back(pair("minimum", {1, 2, -3}, {1, 5, -3}));
  for (const char *op : {"maximum", "minimum"}) {
    GradientCase cut = pair(op, {1, 2, -3, 0.5}, {1.5, 1, -2, -0.5});
    cut.op.insert(cut.op.find(" :"), " {bound}");
    cases.push_back(cut);
  }
  GradientCase root = pair("pow", {0.25, 2, 1.5}, {0.5, 0.5, 0.75});
  root.op.insert(root.op.find(" :"), " {flat_at_zero}");
  cases.push_back(root);
  cases.push_back(pair("pow", {0, 0, 0, 2, 0.5}, {1, 2, 3, 0, 0}));
  // Negative bases and base 0, with exponents that are no parameters.
  for (const char *exponent : {"2.0", "3.0", "1.0", "0.0", "-2.0"}) {
    GradientCase power = pair("pow", {-1.5, -0.7, 0, 2}, {0, 0, 0, 0});
    if (*exponent == '-')
      power.values[0][2] = 0.6;
    power.before = "%p = pipe.constant dense<" + std::string(exponent) +
                   "> : tensor<4xf64>";
    power.op.replace(power.op.find("%b"), 2, "%p");
    cases.push_back(power);
  }
  cases.push_back({"pipe.select %a, %b, %c : (tensor<2x3xi1>, tensor<2x3xf64>, "
                   "tensor<2x3xf64>) -> tensor<2x3xf64>",
                   {{1, 0, 0, 1, 1}}});
  cases.push_back({"pipe.select %a, %b, %c : (tensor<2x1xi1>, tensor<f64>, "
                   "tensor<1x3xf64>) -> tensor<2x3xf64>",
                   {{1, 0}}});
  return cases;
}

} // namespace

const GradientCases &binaryCases() {
  static const GradientCases cases = makeCases();
  return cases;
}

TEST(BinaryDerivatives, AreTheDifferences) { checkGradients(binaryCases()); }

} // namespace pipec::test
