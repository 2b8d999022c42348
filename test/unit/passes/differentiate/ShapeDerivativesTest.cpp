// Gradients of data movement.
#include "test/unit/passes/differentiate/GradientCheck.h"

#include <gtest/gtest.h>

namespace pipec::test {
namespace {

GradientCase pad(const std::string &mode, const std::string &amounts,
                 const std::string &result,
                 const std::string &operand = "3x4xf64") {
  return {"pipe.pad " + mode + " %a, %b " + amounts + " : (tensor<" + operand +
          ">, tensor<f64>) -> tensor<" + result + ">"};
}

GradientCase move(const std::string &op, const std::string &result,
                  const std::string &operand = "2x3x4xf64") {
  return {"pipe." + op + " : (tensor<" + operand + ">) -> tensor<" + result +
          ">"};
}

void addPads(GradientCases &cases) {
  cases.push_back(pad("constant", "low [1, 0] high [2, 3]", "6x7xf64"));
  cases.push_back(pad("constant", "low [-1, 0] high [0, -2]", "2x2xf64"));
  cases.push_back(pad("constant", "low [-1, 2] high [3, -1]", "5x5xf64"));
  cases.push_back(pad("constant", "low [2, -3] high [-2, 3]", "3x4xf64"));
  // Everything of the operand is cropped off.
  cases.push_back(pad("constant", "low [-3, 0] high [2, 0]", "2x4xf64"));
  cases.push_back(pad("constant", "low [2, 0] high [-3, 0]", "2x4xf64"));
  cases.push_back(pad("constant", "low [0, 0] high [0, 0]", "3x4xf64"));
  cases.push_back(pad("constant", "low [] high []", "f64", "f64"));
  cases.push_back(
      pad("constant", "low [1, 0] high [1, 0]", "2x4xf64", "0x4xf64"));
  cases.push_back(pad("reflect", "low [2, 0] high [1, 3]", "6x7xf64"));
  cases.push_back(pad("reflect", "low [2, 3] high [2, 3]", "7x10xf64"));
  cases.push_back(pad("edge", "low [5, 0] high [0, 2]", "8x6xf64"));
  cases.push_back(pad("edge", "low [1, 1] high [1, 1]", "5x6xf64"));
  cases.push_back(pad("wrap", "low [2, 0] high [0, 3]", "5x7xf64"));
  cases.push_back(pad("wrap", "low [1, 4] high [3, 4]", "7x12xf64"));
}

GradientCases makeCases() {
  GradientCases cases = {
      move("reshape %a to [6, 4]", "6x4xf64"),
      move("reshape %a to [1, 24, 1]", "1x24x1xf64"),
      move("reshape %a to [1]", "1xf64", "f64"),
      move("transpose %a by [2, 0, 1]", "4x2x3xf64"),
      move("transpose %a by [1, 2, 0]", "3x4x2xf64"),
      move("transpose %a by [0, 1, 2]", "2x3x4xf64"),
      move("broadcast %a to [5, 2, 3, 4]", "5x2x3x4xf64"),
      move("broadcast %a to [2, 3, 4]", "2x3x4xf64", "3x1xf64"),
      move("broadcast %a to [2, 3]", "2x3xf64", "f64"),
      move("broadcast %a to [1, 0]", "1x0xf64", "1x1xf64"),
      move("slice %a [0, 1, 0] to [2, 3, 4] by [1, 1, 1]", "2x2x4xf64"),
      move("slice %a [1, 0, 1] to [2, 3, 4] by [1, 2, 2]", "1x2x2xf64"),
      move("slice %a [0, 0, 0] to [2, 3, 4] by [1, 2, 3]", "2x2x2xf64"),
      move("slice %a [1, 2, 3] to [2, 3, 4] by [9, 9, 9]", "1x1x1xf64"),
      move("slice %a [0, 2, 1] to [2, 2, 4] by [1, 1, 2]", "2x0x2xf64"),
      move("slice %a [0] to [7] by [3]", "3xf64", "8xf64"),
      move("reverse %a dims [0, 2]", "2x3x4xf64"),
      move("reverse %a dims []", "2x3x4xf64"),
      {"pipe.concat %a, %b, %c dim 1 : (tensor<2x3xf64>, tensor<2x0xf64>, "
       "tensor<2x1xf64>) -> tensor<2x4xf64>"},
      {"pipe.concat %a, %b dim 0 : (tensor<2x3xf64>, tensor<1x3xf64>) -> "
       "tensor<3x3xf64>"},
      {"pipe.concat %a dim 0 : (tensor<2x3xf64>) -> tensor<2x3xf64>"},
  };
  addPads(cases);
  return cases;
}

} // namespace

const GradientCases &shapeCases() {
  static const GradientCases cases = makeCases();
  return cases;
}

TEST(ShapeDerivatives, AreTheDifferences) { checkGradients(shapeCases()); }

} // namespace pipec::test
