// Positions of extremes, running sums, one-hot codes.
//
// In: ArgMax, TopK, CumSum, OneHot, Hardmax and their siblings. Out: the `pipe`
// ops of the same kind. Tests: test/unit/frontends/ImportTest.cpp,
// test/conformance/onnx_nodes.py.
#include "frontends/onnx/ops/NodeContext.h"
#include "frontends/onnx/ops/OpTable.h"

namespace pipec::onnx {
namespace {

void importArgReduce(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  auto axis = c.axisAttr("axis", 0, c.in(0).rank());
  if (!axis)
    return;
  auto kind = c.op() == "ArgMax" ? pipe::ArgReduceKind::argmax
                                 : pipe::ArgReduceKind::argmin;
  c.out(0,
        c.e.emit1(
            "arg_reduce", {c.in(0)},
            c.e.attrs()
                .set("kind", pipe::ArgReduceKindAttr::get(c.e.context(), kind))
                .i64("dim", *axis)
                .flag("keep_dims", c.intAttr("keepdims", 1) != 0)
                .flag("select_last", c.intAttr("select_last_index", 0) != 0)));
}

void importTopK(NodeContext &c) {
  if (!c.needInputs(2))
    return;
  auto k = c.constantInts(1, "k");
  auto axis = c.axisAttr("axis", -1, c.in(0).rank());
  if (!k || !axis || !c.require(k->size() == 1, "k is not one number"))
    return;
  std::vector<Val> results =
      c.e.emit("top_k", {c.in(0)},
               c.e.attrs()
                   .i64("k", (*k)[0])
                   .i64("dim", *axis)
                   .boolean("largest", c.intAttr("largest", 1) != 0)
                   .dictionary(),
               2);
  c.out(0, results[0]);
  c.out(1, results[1]);
}

void importCumulative(NodeContext &c) {
  if (!c.needInputs(2))
    return;
  auto given = c.constantInts(1, "the axis");
  if (!given || !c.require(given->size() == 1, "the axis is not one number"))
    return;
  auto axis = c.sortedAxes(*given, c.in(0).rank());
  if (!axis)
    return;
  auto kind = c.op() == "CumSum" ? pipe::CumulativeKind::cumsum
                                 : pipe::CumulativeKind::cumprod;
  c.out(0, c.e.emit1("cumulative", {c.in(0)},
                     c.e.attrs()
                         .set("kind", pipe::CumulativeKindAttr::get(
                                          c.e.context(), kind))
                         .i64("dim", (*axis)[0])
                         .flag("exclusive", c.intAttr("exclusive", 0) != 0)
                         .flag("reverse", c.intAttr("reverse", 0) != 0)));
}

/// Whether each position along a new dimension `axis` of `depth` is the one
/// that `indices` name.
Val oneHotMask(Emitter &e, const Val &indices, int64_t axis, int64_t depth) {
  Shape column = indices.shape(), row(indices.rank() + 1, 1);
  column.insert(column.begin() + axis, 1);
  row[axis] = depth;
  return e.compare(pipe::CompareKind::eq, e.reshape(indices, column),
                   e.iota({DType::I64, row}, axis));
}

void importOneHot(NodeContext &c) {
  if (!c.needInputs(3))
    return;
  auto depth = c.constantInts(1, "the depth");
  if (!depth || !c.require(depth->size() == 1 && (*depth)[0] > 0,
                           "the depth is not one positive number"))
    return;
  auto axis = c.axisAttr("axis", -1, c.in(0).rank() + 1);
  if (!axis || !c.require(c.in(2).rank() == 1 && c.in(2).dim(0) == 2,
                          "values are not two numbers"))
    return;
  Emitter &e = c.e;
  Val indices = e.convert(c.in(0), DType::I64);
  Val negative =
      e.compare(pipe::CompareKind::lt, indices, e.number(0, DType::I64));
  indices = e.select(
      negative, e.add(indices, e.reshape(e.ints({(*depth)[0]}), {})), indices);
  if (!indices)
    return;
  Val off = e.reshape(e.sliceDim(c.in(2), 0, 0, 1), {}),
      on = e.reshape(e.sliceDim(c.in(2), 0, 1, 2), {});
  c.out(0, e.select(oneHotMask(e, indices, *axis, (*depth)[0]), on, off));
}

/// 1 at the first largest element along the axis, else 0.
void importHardmax(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  Val x = c.in(0);
  auto axis = c.axisAttr("axis", -1, x.rank());
  if (!axis)
    return;
  Val largest = c.e.emit1(
      "arg_reduce", {x},
      c.e.attrs()
          .set("kind", pipe::ArgReduceKindAttr::get(
                           c.e.context(), pipe::ArgReduceKind::argmax))
          .i64("dim", *axis));
  if (largest)
    c.out(0, c.e.convert(oneHotMask(c.e, largest, *axis, x.dim(*axis)),
                         x.dtype()));
}

constexpr OpEntry kTable[] = {
    {"ArgMax", 13, importArgReduce},   {"ArgMin", 13, importArgReduce},
    {"TopK", 13, importTopK},          {"CumSum", 13, importCumulative},
    {"CumProd", 26, importCumulative}, {"OneHot", 13, importOneHot},
    {"Hardmax", 13, importHardmax},
};

} // namespace

OpTable selectionOps() { return {kTable, std::size(kTable)}; }

} // namespace pipec::onnx
