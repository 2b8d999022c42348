// Reductions of ONNX.
//
// In: ReduceSum and its siblings, with axes as attribute or input. Out:
// `pipe.reduce` with elementwise ops around it. Tests:
// test/unit/frontends/ImportTest.cpp, test/conformance/onnx_nodes.py.
#include "frontends/onnx/ops/NodeContext.h"
#include "frontends/onnx/ops/OpTable.h"

#include <algorithm>

namespace pipec::onnx {
namespace {

using pipe::ReduceKind;

/// log(sum(e^x)) without overflow.
Val logSumExp(Emitter &e, const Val &x, const Shape &dims, bool keep) {
  Val largest = e.reduce(ReduceKind::max, x, dims, true);
  // Where all is -inf (or one is inf) nothing is taken off, else inf - inf
  // would give NaN.
  Val finite = e.select(e.emit1("is_inf", {largest}, e.attrs()),
                        e.number(0, x.dtype()), largest);
  Val sum =
      e.reduce(ReduceKind::sum, e.unary("exp", e.sub(x, finite)), dims, true);
  Val result = e.add(e.unary("log", sum), finite);
  if (keep || !result)
    return result;
  Shape shape;
  for (int64_t d = 0; d < result.rank(); ++d)
    if (std::find(dims.begin(), dims.end(), d) == dims.end())
      shape.push_back(result.dim(d));
  return e.reshape(result, shape);
}

/// Of equal extremes ATen's max.dim and min.dim hand the gradient to the first,
/// amax and amin to all. Only the fx call says which; without it: to all.
bool takesFirst(const NodeContext &c) {
  const std::string &target = c.call().target;
  return target.find("aten.max.dim") != std::string::npos ||
         target.find("aten.min.dim") != std::string::npos;
}

Val reduceBy(const std::string &op, Emitter &e, const Val &x, const Shape &dims,
             bool keep) {
  auto sum = [&](const Val &value) {
    return e.reduce(ReduceKind::sum, value, dims, keep);
  };
  auto square = [&] { return e.mul(x, x); };
  if (op == "ReduceMean")
    return e.reduce(ReduceKind::mean, x, dims, keep);
  if (op == "ReduceProd")
    return e.reduce(ReduceKind::prod, x, dims, keep);
  if (op == "ReduceMax")
    return e.reduce(ReduceKind::max, x, dims, keep);
  if (op == "ReduceMin")
    return e.reduce(ReduceKind::min, x, dims, keep);
  if (op == "ReduceL1")
    return sum(e.unary("abs", x));
  if (op == "ReduceSumSquare")
    return sum(square());
  if (op == "ReduceLogSumExp")
    return logSumExp(e, x, dims, keep);
  // Roots and logarithms of integer sums are taken in f64.
  DType wide = x && !isFloat(x.dtype()) ? DType::F64 : x.dtype();
  if (op == "ReduceL2")
    return e.convert(e.unary("sqrt", e.convert(sum(square()), wide)),
                     x.dtype());
  if (op == "ReduceLogSum")
    return e.convert(e.unary("log", e.convert(sum(x), wide)), x.dtype());
  return sum(x);
}

void importReduce(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  Val x = c.in(0);
  auto given = c.attrOrInput("axes", 1);
  if (!c.ok())
    return;
  Shape axes = given.value_or(Shape());
  if (axes.empty() && !c.intAttr("noop_with_empty_axes", 0))
    axes = iotaShape(x.rank());
  auto dims = c.sortedAxes(axes, x.rank());
  if (!dims)
    return;
  bool keep = c.intAttr("keepdims", 1) != 0;
  if (c.op() == "ReduceLogSumExp" && !isFloat(x.dtype())) {
    Val wide = c.e.convert(x, DType::F64);
    c.out(0, c.e.convert(reduceBy(c.op(), c.e, wide, *dims, keep), x.dtype()));
    return;
  }
  if (dims->size() == 1 && (c.op() == "ReduceMax" || c.op() == "ReduceMin") &&
      takesFirst(c)) {
    auto kind = c.op() == "ReduceMax" ? ReduceKind::max : ReduceKind::min;
    c.out(0, c.e.emit1("reduce", {x},
                       c.e.attrs()
                           .set("kind",
                                pipe::ReduceKindAttr::get(c.e.context(), kind))
                           .ints("dims", *dims)
                           .flag("keep_dims", keep)
                           .flag("select_first", true)));
    return;
  }
  c.out(0, reduceBy(c.op(), c.e, x, *dims, keep));
}

constexpr OpEntry kTable[] = {
    {"ReduceSum", 13, importReduce},
    {"ReduceMean", 13, importReduce},
    {"ReduceProd", 13, importReduce},
    {"ReduceMax", 13, importReduce},
    {"ReduceMin", 13, importReduce},
    {"ReduceL1", 13, importReduce},
    {"ReduceL2", 13, importReduce},
    {"ReduceLogSum", 13, importReduce},
    {"ReduceLogSumExp", 13, importReduce},
    {"ReduceSumSquare", 13, importReduce},
};

} // namespace

OpTable reduceOps() { return {kTable, std::size(kTable)}; }

} // namespace pipec::onnx
