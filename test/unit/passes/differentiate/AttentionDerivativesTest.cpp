// Gradients of attention.
#include "test/unit/passes/differentiate/GradientCheck.h"

#include <gtest/gtest.h>

#include <limits>

namespace pipec::test {
namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

// Of `heads` query heads and `keyHeads` key heads, 3 queries and 4 keys.
GradientCase attention(int heads, int keyHeads, const std::string &rest,
                       const std::string &mask = "", Numbers values = {}) {
  const std::string h = std::to_string(heads), k = std::to_string(keyHeads);
  return {"pipe.attention %a, %b, %c " +
              std::string(mask.empty() ? "" : "mask %d ") + rest +
              " : (tensor<2x" + h + "x3x2xf64>, tensor<2x" + k +
              "x4x2xf64>, tensor<2x" + k + "x4x3xf64>" +
              (mask.empty() ? "" : ", tensor<" + mask + ">") +
              ") -> tensor<2x" + h + "x3x3xf64>",
          {{}, {}, {}, std::move(values)},
          -2,
          2};
}

GradientCases makeCases() {
  const std::string scale = "scale 0.7", causal = "scale 0.7 {causal = true}";
  const Numbers hides = {1, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0}; // the second row
  const Numbers adds = {0.3,   kNone, -1, 0.5, kNone, kNone,
                        kNone, kNone, 0,  0.2, 0.7,   -0.4};
  GradientCases cases;
  for (const auto &[heads, keyHeads] :
       {std::pair(1, 1), {2, 2}, {4, 2}, {3, 1}})
    for (const std::string &how : {scale, causal}) {
      cases.push_back(attention(heads, keyHeads, how));
      cases.push_back(attention(heads, keyHeads, how, "3x4xi1", hides));
      cases.push_back(attention(heads, keyHeads, how, "3x4xf64", adds));
    }
  for (const char *mask :
       {"f64", "4xf64", "3x1xf64", "1x4x1x4xf64", "2x1x3x4xf64", "2x4x3x4xf64"})
    cases.push_back(attention(4, 2, scale, mask));
  for (const char *mask : {"4xi1", "2x1x1x4xi1", "4x3x4xi1"})
    cases.push_back(attention(4, 2, scale, mask, hides));
  // More queries than keys: the first have nothing to attend to.
  cases.push_back({"pipe.attention %a, %b, %c scale 1.0 {causal = true} : "
                   "(tensor<1x2x4x2xf64>, tensor<1x1x2x2xf64>, "
                   "tensor<1x1x2x3xf64>) -> tensor<1x2x4x3xf64>"});
  cases.push_back({"pipe.attention %a, %b, %c scale -0.5 : "
                   "(tensor<1x2x1x2xf64>, tensor<1x2x1x2xf64>, "
                   "tensor<1x2x1x1xf64>) -> tensor<1x2x1x1xf64>"});
  return cases;
}

} // namespace

const GradientCases &attentionCases() {
  static const GradientCases cases = makeCases();
  return cases;
}

TEST(AttentionDerivatives, AreTheDifferences) {
  checkGradients(attentionCases());
}

} // namespace pipec::test
