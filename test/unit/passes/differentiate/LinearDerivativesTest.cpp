// Gradients of matrix products, convolutions and pools.
#include "test/unit/passes/differentiate/GradientCheck.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace pipec::test {
namespace {

using Sizes = std::vector<int64_t>;

std::string list(const Sizes &sizes) {
  std::string text;
  for (int64_t size : sizes)
    text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}

std::string tensor(const Sizes &shape) {
  std::string text;
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return "tensor<" + text + "f64>";
}

// Windows over spatial dimensions; empty lists stand for ones and zeros.
struct Windows {
  Sizes in, kernel, strides = {}, low = {}, high = {}, dilations = {},
                    extra = {};
  int64_t groups = 1;

  Windows filled() const {
    Windows w = *this;
    const size_t n = in.size();
    for (Sizes *ones : {&w.strides, &w.dilations})
      if (ones->empty())
        ones->assign(n, 1);
    for (Sizes *zeros : {&w.low, &w.high, &w.extra})
      if (zeros->empty())
        zeros->assign(n, 0);
    return w;
  }
  std::string text() const {
    Sizes padding = low;
    padding.insert(padding.end(), high.begin(), high.end());
    return " strides " + list(strides) + " padding " + list(padding) +
           " dilations " + list(dilations);
  }
  int64_t reach(size_t d) const { return dilations[d] * (kernel[d] - 1) + 1; }
  // Result size of a convolution or pool; of a pool that rounds up.
  int64_t out(size_t d, bool ceil = false) const {
    const int64_t room = in[d] + low[d] + high[d] - reach(d);
    int64_t size = room / strides[d] + 1;
    if (ceil && room % strides[d] != 0 && size * strides[d] < in[d] + low[d])
      ++size;
    return size;
  }
  int64_t transposed(size_t d) const {
    return (in[d] - 1) * strides[d] - low[d] - high[d] + reach(d) + extra[d];
  }
};

GradientCase convolution(const Windows &how, int64_t batch, int64_t channels,
                         int64_t features, bool transposed) {
  const Windows w = how.filled();
  Sizes x = {batch, channels}, y = {batch, features};
  Sizes k = transposed ? Sizes{channels, features / w.groups}
                       : Sizes{features, channels / w.groups};
  for (size_t d = 0; d < w.in.size(); ++d) {
    x.push_back(w.in[d]);
    k.push_back(w.kernel[d]);
    y.push_back(transposed ? w.transposed(d) : w.out(d));
  }
  return {std::string("pipe.") +
          (transposed ? "conv_transpose" : "convolution") + " %a, %b" +
          w.text() + (transposed ? " output_padding " + list(w.extra) : "") +
          " {groups = " + std::to_string(w.groups) + "} : (" + tensor(x) +
          ", " + tensor(k) + ") -> " + tensor(y)};
}

GradientCase pool(const std::string &kind, const Windows &how,
                  const std::string &attributes = "") {
  const Windows w = how.filled();
  const bool ceil = attributes.find("ceil_mode = true") != std::string::npos;
  Sizes x = {2, 2}, y = x;
  for (size_t d = 0; d < w.in.size(); ++d) {
    x.push_back(w.in[d]);
    y.push_back(w.out(d, ceil));
  }
  return {"pipe." + kind + " %a window " + list(w.kernel) + w.text() + " {" +
          attributes + "} : (" + tensor(x) + ") -> " + tensor(y)};
}

void addConvolutions(GradientCases &cases) {
  // in, kernel, strides, low, high, dilations, output padding, groups.
  const Windows windows[] = {
      {{5}, {3}, {}, {}, {}, {}, {}},
      {{6}, {3}, {2}, {1}, {0}, {}, {1}}, // its end is reached by no window
      {{9}, {2}, {3}, {0}, {2}, {2}, {2}},
      {{7}, {3}, {}, {-1}, {2}, {}, {}},
      {{7}, {2}, {3}, {2}, {-2}, {}, {}},
      {{4, 5}, {2, 3}, {2, 1}, {1, 0}, {1, 2}, {1, 2}, {1, 0}},
      {{5, 4}, {1, 1}, {2, 2}, {}, {}, {}, {1, 1}},
      {{4, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {}, {}},
      {{3, 4, 3},
       {2, 2, 2},
       {1, 2, 1},
       {0, 1, 1},
       {1, 0, 1},
       {2, 1, 1},
       {0, 1, 0}},
      {{4, 3, 2}, {3, 1, 2}, {2, 2, 2}, {1, 0, 0}, {1, 0, 0}, {}, {1, 1, 1}},
  };
  for (Windows w : windows)
    for (bool transposed : {false, true}) {
      cases.push_back(convolution(w, 2, 2, 3, transposed));
      w.groups = 2;
      cases.push_back(convolution(w, 1, 4, 6, transposed));
      w.groups = 3; // one channel each
      cases.push_back(convolution(w, 2, 3, 3, transposed));
      w.groups = 1;
    }
  // An output padding beyond the stride but below the dilation.
  cases.push_back(
      convolution({{3}, {2}, {2}, {1}, {0}, {4}, {3}}, 2, 2, 3, true));
  cases.push_back(convolution({{4}, {2}}, 0, 2, 3, false)); // an empty batch
}

void addPools(GradientCases &cases) {
  const Windows windows[] = {
      {{7}, {3}, {2}, {1}, {1}},
      {{8}, {3}, {2}},
      {{8}, {3}, {3}, {1}, {0}, {2}},
      {{5, 6}, {2, 3}, {2, 2}, {1, 1}, {0, 1}},
      {{5, 7}, {2, 2}, {2, 3}, {}, {}, {2, 1}},
      {{6, 6}, {3, 3}, {}, {1, 1}, {1, 1}},
      {{3, 4, 5}, {2, 2, 2}, {1, 2, 2}, {1, 0, 1}, {0, 1, 1}},
      {{2, 3, 4}, {2, 3, 4}, {}},
  };
  for (const Windows &w : windows)
    for (const char *ceil : {"", "ceil_mode = true"}) {
      cases.push_back(pool("max_pool", w, ceil));
      cases.push_back(pool("avg_pool", w, ceil));
      const std::string counted = "count_include_pad = true";
      cases.push_back(
          pool("avg_pool", w, *ceil ? counted + ", " + ceil : counted));
    }
}

void addProducts(GradientCases &cases) {
  const auto dot = [&](const std::string &how, Sizes lhs, Sizes rhs,
                       Sizes result) {
    cases.push_back({"pipe.dot_general %a, %b " + how + " : (" + tensor(lhs) +
                     ", " + tensor(rhs) + ") -> " + tensor(result)});
  };
  dot("contract [1] x [1]", {3, 4}, {5, 4}, {3, 5});
  dot("contract [1] x [0]", {3, 4}, {4, 5}, {3, 5});
  dot("contract [0] x [1]", {4, 3}, {5, 4}, {3, 5});
  dot("contract [0] x [0]", {4}, {4}, {});
  dot("contract [] x []", {2}, {3}, {2, 3});
  dot("contract [2] x [0]", {2, 3, 4}, {4, 5}, {2, 3, 5});
  dot("batch [0] x [0] contract [2] x [1]", {2, 3, 4}, {2, 4, 5}, {2, 3, 5});
  dot("batch [0] x [1] contract [2] x [0]", {2, 3, 4}, {4, 2, 5}, {2, 3, 5});
  dot("batch [2, 0] x [0, 2] contract [1] x [1]", {2, 3, 4}, {4, 3, 2}, {4, 2});
  dot("batch [1] x [2] contract [3, 0] x [0, 1]", {2, 3, 2, 4}, {4, 2, 3, 2},
      {3, 2, 2});
  dot("contract [2, 0] x [1, 2]", {2, 3, 4}, {5, 4, 2}, {3, 5});
  dot("contract [0, 1] x [1, 0]", {2, 3}, {3, 2}, {});
  dot("contract [1] x [0]", {3, 0}, {0, 2}, {3, 2});
}

GradientCases makeCases() {
  GradientCases cases;
  addProducts(cases);
  addConvolutions(cases);
  addPools(cases);
  return cases;
}

} // namespace

const GradientCases &linearCases() {
  static const GradientCases cases = makeCases();
  return cases;
}

TEST(LinearDerivatives, AreTheDifferences) { checkGradients(linearCases()); }

} // namespace pipec::test
