// Convolutions of ONNX.
//
// In: Conv, ConvTranspose. Out: `pipe.convolution`, `pipe.conv_transpose`, with
// the bias added apart. Tests: test/unit/frontends/ImportTest.cpp,
// test/conformance/onnx_nodes.py.
#include "frontends/common/Text.h"
#include "frontends/onnx/ops/OpTable.h"
#include "frontends/onnx/ops/Windows.h"

namespace pipec::onnx {
namespace {

Shape kernelOf(const Val &weight) {
  return weight.rank() > 2
             ? Shape(weight.shape().begin() + 2, weight.shape().end())
             : Shape();
}

void outWithBias(NodeContext &c, const Val &result) {
  if (!c.has(2) || !result) {
    c.out(0, result);
    return;
  }
  Shape shape(result.rank() - 1, 1);
  shape[0] = c.in(2).numElements();
  c.out(0, c.e.add(result, c.e.reshape(c.in(2), shape)));
}

bool kernelAgrees(NodeContext &c, const Val &weight) {
  Shape kernel = c.intsAttr("kernel_shape", kernelOf(weight));
  return c.require(kernel == kernelOf(weight),
                   "kernel_shape " + shapeText(kernel) +
                       " differs from the weight " + shapeText(weight.shape()));
}

void importConv(NodeContext &c) {
  if (!c.needInputs(2) || !kernelAgrees(c, c.in(1)))
    return;
  auto window = readWindow(c, c.in(0), kernelOf(c.in(1)));
  if (!window)
    return;
  outWithBias(c, c.e.emit1("convolution", {c.in(0), c.in(1)},
                           c.e.attrs()
                               .ints("strides", window->strides)
                               .ints("padding", window->padding)
                               .ints("dilations", window->dilations)
                               .i64("groups", c.intAttr("group", 1))));
}

/// Pads and output padding that give the sizes asked for (output_shape, or
/// SAME: input times stride).
void fitOutput(NodeContext &c, Window &window, Shape &extra,
               const Shape &wanted) {
  int64_t n = window.rank();
  bool upper = c.stringAttr("auto_pad", "NOTSET") == "SAME_UPPER";
  for (int64_t d = 0; d < n; ++d) {
    int64_t full = window.strides[d] * (c.in(0).dim(d + 2) - 1) + extra[d] +
                   (window.kernel[d] - 1) * window.dilations[d] + 1;
    int64_t total = full - wanted[d];
    if (total < 0) {
      extra[d] -= total;
      total = 0;
    }
    window.padding[d] = upper ? total / 2 : total - total / 2;
    window.padding[n + d] = total - window.padding[d];
  }
}

void importConvTranspose(NodeContext &c) {
  if (!c.needInputs(2) || !kernelAgrees(c, c.in(1)))
    return;
  auto window = readWindow(c, c.in(0), kernelOf(c.in(1)));
  if (!window)
    return;
  Shape extra = c.intsAttr("output_padding", Shape(window->rank(), 0));
  Shape wanted = c.intsAttr("output_shape");
  if (wanted.size() == window->kernel.size() + 2)
    wanted.erase(wanted.begin(), wanted.begin() + 2);
  std::string automatic = c.stringAttr("auto_pad", "NOTSET");
  if (wanted.empty() &&
      (automatic == "SAME_UPPER" || automatic == "SAME_LOWER"))
    for (int64_t d = 0; d < window->rank(); ++d)
      wanted.push_back(c.in(0).dim(d + 2) * window->strides[d]);
  if (!c.require(extra.size() == window->kernel.size() &&
                     (wanted.empty() || wanted.size() == window->kernel.size()),
                 "output_padding or output_shape have a wrong length"))
    return;
  for (size_t d = 0; d < extra.size(); ++d)
    if (!c.require(
            extra[d] >= 0 && extra[d] < (1 << 30) &&
                (wanted.empty() || (wanted[d] >= 0 && wanted[d] < (1 << 30))),
            "output_padding or output_shape are out of range"))
      return;
  if (!wanted.empty())
    fitOutput(c, *window, extra, wanted);
  outWithBias(c, c.e.emit1("conv_transpose", {c.in(0), c.in(1)},
                           c.e.attrs()
                               .ints("strides", window->strides)
                               .ints("padding", window->padding)
                               .ints("dilations", window->dilations)
                               .ints("output_padding", extra)
                               .i64("groups", c.intAttr("group", 1))));
}

constexpr OpEntry kTable[] = {{"Conv", 13, importConv},
                              {"ConvTranspose", 13, importConvTranspose}};

} // namespace

OpTable convolutionOps() { return {kTable, std::size(kTable)}; }

} // namespace pipec::onnx
