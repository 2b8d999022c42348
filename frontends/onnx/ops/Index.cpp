// Reading and writing at computed positions.
//
// In: Gather, Scatter and their Elements and ND forms. Out: the `pipe` op of
// the same name. Tests: test/unit/frontends/ImportTest.cpp,
// test/conformance/onnx_nodes.py.
#include "frontends/onnx/ops/NodeContext.h"
#include "frontends/onnx/ops/OpTable.h"

namespace pipec::onnx {
namespace {

/// padding_idx of nn.Embedding, which only the fx call has; it matters to
/// gradients alone.
std::optional<int64_t> paddingIndex(const NodeContext &c, int64_t size) {
  const FxCall &call = c.call();
  if (!c.training || call.target.find("aten.embedding.") == std::string::npos)
    return std::nullopt;
  auto keyword = call.keywords.find("padding_idx");
  std::string text;
  if (keyword != call.keywords.end())
    text = keyword->second;
  else if (call.args.size() > 2)
    text = call.args[2];
  int64_t index = -1; // as in ATen: none
  if (llvm::StringRef(text).getAsInteger(10, index) || index < 0 ||
      index >= size)
    return std::nullopt;
  return index;
}

void importGather(NodeContext &c) {
  if (!c.needInputs(2))
    return;
  auto axis = c.axisAttr("axis", 0, c.in(0).rank());
  if (!axis)
    return;
  Attrs attrs = c.e.attrs().i64("dim", *axis);
  if (*axis == 0)
    if (auto padding = paddingIndex(c, c.in(0).dim(0)))
      attrs.i64("padding_index", *padding);
  c.out(0, c.e.emit1("gather", {c.in(0), c.in(1)}, attrs));
}

void importGatherElements(NodeContext &c) {
  if (!c.needInputs(2))
    return;
  if (auto axis = c.axisAttr("axis", 0, c.in(0).rank()))
    c.out(0, c.e.emit1("gather_elements", {c.in(0), c.in(1)},
                       c.e.attrs().i64("dim", *axis)));
}

void importGatherNd(NodeContext &c) {
  if (c.needInputs(2))
    c.out(0,
          c.e.emit1("gather_nd", {c.in(0), c.in(1)},
                    c.e.attrs().i64("batch_dims", c.intAttr("batch_dims", 0))));
}

/// ONNX "none" is `set`; add, mul, max and min are as named.
mlir::Attribute scatterKind(NodeContext &c) {
  std::string reduction = c.stringAttr("reduction", "none");
  std::optional<pipe::ScatterKind> kind = pipe::ScatterKind::set;
  if (reduction != "none")
    kind = pipe::symbolizeScatterKind(reduction);
  if (!c.require(kind.has_value() && reduction != "set",
                 "reduction '" + reduction + "' is unknown"))
    return {};
  return pipe::ScatterKindAttr::get(c.e.context(), *kind);
}

void importScatterElements(NodeContext &c) {
  if (!c.needInputs(3))
    return;
  auto axis = c.axisAttr("axis", 0, c.in(0).rank());
  mlir::Attribute kind = scatterKind(c);
  if (axis && kind)
    c.out(0, c.e.emit1("scatter_elements", {c.in(0), c.in(1), c.in(2)},
                       c.e.attrs().set("kind", kind).i64("dim", *axis)));
}

void importScatterNd(NodeContext &c) {
  if (!c.needInputs(3))
    return;
  if (mlir::Attribute kind = scatterKind(c))
    c.out(0, c.e.emit1("scatter_nd", {c.in(0), c.in(1), c.in(2)},
                       c.e.attrs().set("kind", kind)));
}

constexpr OpEntry kTable[] = {
    {"Gather", 13, importGather},
    {"GatherElements", 13, importGatherElements},
    {"GatherND", 13, importGatherNd},
    {"ScatterElements", 13, importScatterElements},
    {"ScatterND", 13, importScatterNd},
};

} // namespace

OpTable indexOps() { return {kTable, std::size(kTable)}; }

} // namespace pipec::onnx
