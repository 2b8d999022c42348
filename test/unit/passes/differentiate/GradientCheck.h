// Gradients of one op by its derivative rule against central differences.
//
// A case is the text of an op in f64 whose operands are %a, %b, .. in order.
// Its float operands become trained parameters, the others graph inputs; the
// loss is a sum of its results with fixed random weights. `pipe-differentiate`
// makes the gradients, the reference kernels evaluate them.
#ifndef PIPEC_TEST_UNIT_PASSES_DIFFERENTIATE_GRADIENTCHECK_H
#define PIPEC_TEST_UNIT_PASSES_DIFFERENTIATE_GRADIENTCHECK_H

#include <string>
#include <vector>

namespace pipec::test {

using Numbers = std::vector<double>;

struct GradientCase {
  /// Such as "pipe.add %a, %b : (tensor<2xf64>, tensor<f64>) -> tensor<2xf64>".
  std::string op;
  /// The operands' elements, repeated where there are too few; for an operand
  /// that has none (and those that are missing) random ones of [low, high).
  std::vector<Numbers> values = {};
  double low = -1, high = 1;
  /// Relative to the larger of 1 and the gradient.
  double tolerance = 2e-7;
  double step = 1e-5;
  /// Lines in front of the op, for what it reads beside its operands.
  std::string before = {};
};
using GradientCases = std::vector<GradientCase>;

/// Fails the running test where a gradient differs from the differences, or
/// from itself with recomputation or with the other operands frozen.
void checkGradients(const GradientCase &test);
void checkGradients(const GradientCases &tests);

/// The cases in f32 with the library kernels, against f64's gradients, and in
/// f16 and bf16, where they must be finite.
void checkOtherTypes(const GradientCases &tests);

// Each kind's cases, for the test that every derivative has one.
const GradientCases &unaryCases();
const GradientCases &binaryCases();
const GradientCases &reduceCases();
const GradientCases &shapeCases();
const GradientCases &indexCases();
const GradientCases &linearCases();
const GradientCases &normCases();
const GradientCases &attentionCases();

} // namespace pipec::test

#endif // PIPEC_TEST_UNIT_PASSES_DIFFERENTIATE_GRADIENTCHECK_H
