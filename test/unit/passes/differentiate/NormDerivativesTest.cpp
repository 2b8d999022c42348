// Gradients of softmax, normalisations, dropout and losses.
#include "test/unit/passes/differentiate/GradientCheck.h"

#include <gtest/gtest.h>

namespace pipec::test {
namespace {

void addSoftmaxes(GradientCases &cases) {
  for (const char *kind : {"softmax", "log_softmax"})
    for (const char *dim : {"0", "1", "2"})
      cases.push_back({std::string("pipe.") + kind + " %a dim " + dim +
                           " : (tensor<2x3x4xf64>) -> tensor<2x3x4xf64>",
                       {},
                       -4,
                       4});
}

// "operand (scale) (bias)" forms of a norm whose scale has type `scale`.
void addForms(GradientCases &cases, const std::string &name,
              const std::string &operand, const std::string &scale,
              const std::string &rest, bool hasBias) {
  const std::string forms[][2] = {
      {"", ""},
      {" scale %b", ", " + scale},
      {" bias %b", ", " + scale},
      {" scale %b bias %c", ", " + scale + ", " + scale}};
  for (const auto &[names, types] : forms)
    if (hasBias || names.find("bias") == std::string::npos)
      cases.push_back({"pipe." + name + " %a" + names + rest + " : (" +
                           operand + types + ") -> " + operand,
                       {},
                       -2,
                       2});
}

void addNorms(GradientCases &cases) {
  const std::string type = "tensor<2x3x4xf64>";
  const std::string eps = " epsilon 1.0e-3";
  const char *const axes[][2] = {{" axis 2", "tensor<4xf64>"},
                                 {" axis 1", "tensor<3x4xf64>"},
                                 {" axis 0", "tensor<2x3x4xf64>"}};
  for (const auto &[axis, scale] : axes) {
    addForms(cases, "layer_norm", type, scale, axis + eps, true);
    addForms(cases, "rms_norm", type, scale, axis + eps, false);
  }
  addForms(cases, "layer_norm", "tensor<5xf64>", "tensor<5xf64>",
           " axis 0 epsilon 0.0", true);
  for (const char *groups : {" groups 1", " groups 2", " groups 4"}) {
    addForms(cases, "group_norm", "tensor<2x4x3x2xf64>", "tensor<4xf64>",
             groups + eps, true);
    if (groups[8] != '4') // a group of one element has no variance
      addForms(cases, "group_norm", "tensor<3x4xf64>", "tensor<4xf64>",
               groups + eps, true);
  }
  for (const char *operand :
       {"tensor<3x2xf64>", "tensor<2x2x3xf64>", "tensor<2x2x2x2x1xf64>"}) {
    GradientCase norm{
        "pipe.batch_norm %a scale %b bias %c mean %d variance %e" + eps +
        " : (" + operand +
        ", tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, "
        "tensor<2xf64>) -> " +
        operand};
    norm.values = {{}, {}, {}, {}, {0.5, 1.75}};
    cases.push_back(norm);
  }
}

void addDropouts(GradientCases &cases) {
  for (const char *how :
       {"ratio 0.5", "ratio 0.1 {stream = 7 : i64}", "ratio 0.0", "ratio 1.0"})
    cases.push_back({std::string("pipe.dropout %a key %b ") + how +
                         " : (tensor<5x3xf64>, tensor<3xi64>) -> "
                         "tensor<5x3xf64>",
                     {{}, {1234, 5, 6}}});
}

void addLosses(GradientCases &cases) {
  for (const char *how :
       {"ignore -100 smoothing 0.0", "ignore 2 smoothing 0.0",
        "ignore -100 smoothing 0.1", "ignore 2 smoothing 0.25",
        "ignore -1 smoothing 1.0"}) {
    cases.push_back({std::string("pipe.cross_entropy %a, %b ") + how +
                         " : (tensor<6x4xf64>, tensor<6xi64>) -> tensor<f64>",
                     {{}, {0, 3, 2, 1, 2, 0}},
                     -3,
                     3});
    cases.push_back({std::string("pipe.cross_entropy %a, %b ") + how +
                         " : (tensor<2x3x4xf64>, tensor<2x3xi32>) -> "
                         "tensor<f64>",
                     {{}, {0, 3, 2, 1, 2, 0}},
                     -3,
                     3});
  }
  cases.push_back({"pipe.cross_entropy %a, %b ignore 1 smoothing 0.0 : "
                   "(tensor<4xf64>, tensor<i64>) -> tensor<f64>",
                   {{}, {3}}});
  // Every row is ignored.
  cases.push_back({"pipe.cross_entropy %a, %b ignore 1 smoothing 0.5 : "
                   "(tensor<2x4xf64>, tensor<2xi64>) -> tensor<f64>",
                   {{}, {1}}});
}

GradientCases makeCases() {
  GradientCases cases;
  addSoftmaxes(cases);
  addNorms(cases);
  addDropouts(cases);
  addLosses(cases);
  return cases;
}

} // namespace

const GradientCases &normCases() {
  static const GradientCases cases = makeCases();
  return cases;
}

TEST(NormDerivatives, AreTheDifferences) { checkGradients(normCases()); }

} // namespace pipec::test
