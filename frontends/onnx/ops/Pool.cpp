// Pooling of ONNX.
//
// In: MaxPool, AveragePool, LpPool and their global forms. Out:
// `pipe.max_pool`, `pipe.avg_pool`, or reductions. Tests:
// test/unit/frontends/ImportTest.cpp, test/conformance/onnx_nodes.py.
#include "frontends/onnx/Text.h"
#include "frontends/onnx/Windows.h"

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

void importLpPool(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  if (c.intAttr("ceil_mode", 0))
    return c.refuse("ceil_mode of LpPool is not supported");
  auto window = readWindow(c, c.in(0), c.intsAttr("kernel_shape"));
  double p = static_cast<double>(c.intAttr("p", 2));
  if (!window || !c.require(p >= 1, "p is less than 1"))
    return;
  double elements = 1;
  for (int64_t size : window->kernel)
    elements *= static_cast<double>(size);
  Val powers = power(c.e, c.e.unary("abs", c.in(0)), p);
  Val mean =
      c.e.emit1("avg_pool", {powers},
                windowAttrs(c, *window).boolean("count_include_pad", true));
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
