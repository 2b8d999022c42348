// Strides, dilations and pads of convolutions and pooling: see Windows.h.
//
// In: a node's attributes. Out: a Window. Tests:
// test/unit/frontends/ImportTest.cpp.
#include "frontends/onnx/ops/Windows.h"

#include "frontends/common/Text.h"

#include <algorithm>

namespace pipec::onnx {

/// Sizes beyond this are refused, so that products of them cannot overflow.
constexpr int64_t kLargest = int64_t(1) << 30;

static bool inRange(const Shape &values, int64_t least) {
  return std::all_of(values.begin(), values.end(), [&](int64_t value) {
    return value >= least && value <= kLargest;
  });
}

/// Pads that make the result ceil(size / stride) long.
static void samePadding(Window &window, const Val &data, bool upper) {
  int64_t n = window.rank();
  for (int64_t d = 0; d < n; ++d) {
    int64_t size = data.dim(d + 2), stride = window.strides[d];
    int64_t extent = (window.kernel[d] - 1) * window.dilations[d] + 1;
    int64_t total = std::max<int64_t>(
        ((size + stride - 1) / stride - 1) * stride + extent - size, 0);
    window.padding[d] = upper ? total / 2 : total - total / 2;
    window.padding[n + d] = total - window.padding[d];
  }
}

static bool checkNumbers(NodeContext &c, const char *name, const Shape &values,
                         size_t count, int64_t least) {
  return c.require(values.size() == count,
                   std::string(name) + " " + shapeText(values) + " has " +
                       std::to_string(values.size()) + " entries, expected " +
                       std::to_string(count)) &&
         c.require(inRange(values, least), std::string(name) + " " +
                                               shapeText(values) +
                                               " is out of range");
}

std::optional<Window> readWindow(NodeContext &c, const Val &data,
                                 const Shape &kernel) {
  Window window;
  size_t n = kernel.size();
  window.kernel = kernel;
  window.strides = c.intsAttr("strides", Shape(n, 1));
  window.dilations = c.intsAttr("dilations", Shape(n, 1));
  window.padding = c.intsAttr("pads", Shape(2 * n, 0));
  if (!c.require(data.rank() == static_cast<int64_t>(n) + 2 && n >= 1,
                 "data " + shapeText(data.shape()) + " and window " +
                     shapeText(kernel) + " do not fit"))
    return std::nullopt;
  if (!checkNumbers(c, "kernel_shape", kernel, n, 1) ||
      !checkNumbers(c, "strides", window.strides, n, 1) ||
      !checkNumbers(c, "dilations", window.dilations, n, 1) ||
      !checkNumbers(c, "pads", window.padding, 2 * n, -kLargest) ||
      !checkNumbers(c, "data", data.shape(), n + 2, 0))
    return std::nullopt;
  std::string automatic = c.stringAttr("auto_pad", "NOTSET");
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER")
    samePadding(window, data, automatic == "SAME_UPPER");
  else if (automatic == "VALID")
    window.padding.assign(2 * n, 0);
  else if (!c.require(automatic == "NOTSET" || automatic.empty(),
                      "auto_pad '" + automatic + "' is unknown"))
    return std::nullopt;
  return window;
}

} // namespace pipec::onnx
