// Pooling of ONNX.
//
// In: MaxPool, AveragePool, LpPool and their global forms. Out:
// `pipe.max_pool`, `pipe.avg_pool`, or reductions. Tests:
// test/unit/frontends/ImportTest.cpp, test/conformance/onnx_nodes.py.
#include "frontends/common/Text.h"
#include "frontends/onnx/ops/OpTable.h"
#include "frontends/onnx/ops/Windows.h"

namespace pipec::onnx {
namespace {

Attrs windowAttrs(NodeContext &c, const Window &window) {
  return c.e.attrs()
      .ints("window", window.kernel)
      .ints("strides", window.strides)
      .ints("padding", window.padding)
      .ints("dilations", window.dilations)
      .boolean("ceil_mode", c.intAttr("ceil_mode", 0) != 0);
}

void importMaxPool(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  c.cannotMake(1, "is the Indices of a MaxPool, which is not supported");
  if (auto window = readWindow(c, c.in(0), c.intsAttr("kernel_shape")))
    c.out(0, c.e.emit1("max_pool", {c.in(0)}, windowAttrs(c, *window)));
}

void importAveragePool(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  if (auto window = readWindow(c, c.in(0), c.intsAttr("kernel_shape")))
    c.out(0, c.e.emit1("avg_pool", {c.in(0)},
                       windowAttrs(c, *window)
                           .boolean("count_include_pad",
                                    c.intAttr("count_include_pad", 0) != 0)));
}

/// |x|^p and its inverse.
Val power(Emitter &e, const Val &x, double p) {
  return p == 1   ? x
         : p == 2 ? e.mul(x, x)
                  : e.binary("pow", x, e.number(p, x.dtype()));
}
Val root(Emitter &e, const Val &x, double p) {
  return p == 1   ? x
         : p == 2 ? e.unary("sqrt", x)
                  : e.binary("pow", x, e.number(1 / p, x.dtype()));
}

/// Zeros around `x` for the window's padding and for what ceil_mode lets its
/// last place stick out: all windows then have the same number of elements.
Val padded(NodeContext &c, const Val &x, Window &window, bool ceilMode) {
  int64_t n = window.rank();
  Shape low(n + 2, 0), high(n + 2, 0);
  for (int64_t d = 0; d < n; ++d) {
    int64_t before = window.padding[d], after = window.padding[n + d];
    int64_t stride = window.strides[d];
    int64_t extent = (window.kernel[d] - 1) * window.dilations[d] + 1;
    int64_t room = x.dim(d + 2) + before + after - extent;
    low[d + 2] = before;
    high[d + 2] = after;
    if (!ceilMode || room <= -stride)
      continue;
    // As max_pool and avg_pool count: see Inference::windowOutputSize.
    int64_t last = (room + stride - 1) / stride;
    if (last > 0 && last * stride >= x.dim(d + 2) + before)
      --last;
    high[d + 2] += std::max<int64_t>(last * stride - room, 0);
  }
  window.padding.assign(2 * n, 0);
  return c.e.pad(pipe::PadMode::constant, x, c.e.number(0, x.dtype()), low,
                 high);
}

void importLpPool(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  auto window = readWindow(c, c.in(0), c.intsAttr("kernel_shape"));
  double p = static_cast<double>(c.intAttr("p", 2));
  if (!window || !c.require(p >= 1, "p is less than 1"))
    return;
  double elements = 1;
  for (int64_t size : window->kernel)
    elements *= static_cast<double>(size);
  bool ceilMode = c.intAttr("ceil_mode", 0) != 0;
  Val powers =
      padded(c, power(c.e, c.e.unary("abs", c.in(0)), p), *window, ceilMode);
  if (!powers)
    return;
  Val mean = c.e.emit1("avg_pool", {powers},
                       windowAttrs(c, *window).boolean("ceil_mode", false));
  if (mean)
    c.out(0, root(c.e, c.e.mulNumber(mean, elements), p));
}

void importGlobalPool(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  Val x = c.in(0);
  if (!c.require(x.rank() >= 2,
                 "data " + shapeText(x.shape()) + " has no spatial dimensions"))
    return;
  Shape dims = iotaShape(x.rank());
  dims.erase(dims.begin(), dims.begin() + 2);
  if (c.op() == "GlobalLpPool") {
    double p = static_cast<double>(c.intAttr("p", 2));
    if (c.require(p >= 1, "p is less than 1"))
      c.out(0, root(c.e,
                    c.e.reduce(pipe::ReduceKind::sum,
                               power(c.e, c.e.unary("abs", x), p), dims, true),
                    p));
    return;
  }
  c.out(0, c.e.reduce(c.op() == "GlobalMaxPool" ? pipe::ReduceKind::max
                                                : pipe::ReduceKind::mean,
                      x, dims, true));
}

constexpr OpEntry kTable[] = {
    {"MaxPool", 13, importMaxPool},
    {"AveragePool", 13, importAveragePool},
    {"LpPool", 13, importLpPool},
    {"GlobalAveragePool", 13, importGlobalPool},
    {"GlobalMaxPool", 13, importGlobalPool},
    {"GlobalLpPool", 13, importGlobalPool},
};

} // namespace

OpTable poolOps() { return {kTable, std::size(kTable)}; }

} // namespace pipec::onnx
