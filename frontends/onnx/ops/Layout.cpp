// Operators that join, cut and rearrange tensors.
//
// In: nodes such as Concat, Split, Slice, Pad, Tile. Out: `pipe` data movement
// with static sizes. Tests: test/unit/frontends/ImportTest.cpp,
// test/conformance/onnx_nodes.py.
#include "frontends/common/Text.h"
#include "frontends/onnx/ops/NodeContext.h"
#include "frontends/onnx/ops/OpTable.h"

#include <algorithm>

namespace pipec::onnx {
namespace {

void importConcat(NodeContext &c) {
  if (!c.require(c.numInputs() > 0, "there is no input") ||
      !c.needInputs(c.numInputs()))
    return;
  if (auto axis = c.axisAttr("axis", 0, c.in(0).rank()))
    c.out(0, c.e.concat(c.all(), *axis));
}

/// Sizes of the pieces of a dimension of `size` in `count` outputs.
std::optional<Shape> pieceSizes(NodeContext &c, int64_t size, int64_t count) {
  auto given = c.attrOrInput("split", 1);
  if (!c.ok())
    return std::nullopt;
  if (given)
    return given;
  int64_t pieces = c.intAttr("num_outputs", count);
  if (!c.require(pieces > 0 && pieces == count,
                 "num_outputs is " + std::to_string(pieces) +
                     ", the node has " + std::to_string(count) + " outputs"))
    return std::nullopt;
  if (!c.hasAttr("num_outputs") &&
      !c.require(size % pieces == 0,
                 std::to_string(size) + " elements do not split into " +
                     std::to_string(pieces) + " equal parts"))
    return std::nullopt;
  int64_t piece = (size + pieces - 1) / pieces;
  Shape sizes(pieces, piece);
  sizes.back() = size - piece * (pieces - 1);
  return sizes;
}

void importSplit(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  auto axis = c.axisAttr("axis", 0, c.in(0).rank());
  if (!axis)
    return;
  int64_t size = c.in(0).dim(*axis), count = c.node().output_size();
  auto sizes = pieceSizes(c, size, count);
  if (!sizes || !c.require(static_cast<int64_t>(sizes->size()) == count,
                           "split has " + std::to_string(sizes->size()) +
                               " parts, the node has " + std::to_string(count) +
                               " outputs"))
    return;
  int64_t start = 0;
  for (int64_t k = 0; k < count; ++k) {
    int64_t piece = (*sizes)[k];
    if (!c.require(piece >= 0 && piece <= size - start,
                   "split " + shapeText(*sizes) + " does not fit dimension " +
                       std::to_string(*axis) + " of " +
                       shapeText(c.in(0).shape())))
      return;
    c.out(static_cast<int>(k),
          c.e.sliceDim(c.in(0), *axis, start, start + piece));
    start += piece;
  }
  c.require(start == size, "split " + shapeText(*sizes) +
                               " leaves elements of " + std::to_string(size));
}

/// One dimension of a Slice, in ONNX's terms, as a forward slice and whether it
/// is turned round.
struct SliceRange {
  int64_t start, limit, stride;
  bool reversed;
};
SliceRange sliceRange(int64_t start, int64_t end, int64_t step, int64_t size) {
  bool forward = step > 0;
  auto bound = [&](int64_t at) {
    at = at < 0 ? at + size : at;
    return forward ? std::clamp<int64_t>(at, 0, size)
                   : std::clamp<int64_t>(at, -1, size - 1);
  };
  start = bound(start);
  end = bound(end);
  if (forward)
    return {start, std::max(start, end), step, false};
  int64_t stride = step == INT64_MIN ? INT64_MAX : -step;
  if (start <= end)
    return {0, 0, 1, false};
  int64_t count = (start - end - 1) / stride + 1;
  return {start - (count - 1) * stride, start + 1, stride, true};
}

void importSlice(NodeContext &c) {
  if (!c.needInputs(3))
    return;
  Val x = c.in(0);
  auto starts = c.constantInts(1, "starts");
  auto ends = c.constantInts(2, "ends");
  if (!starts || !ends)
    return;
  size_t n = starts->size();
  std::optional<Shape> axes = iotaShape(static_cast<int64_t>(n)),
                       steps = Shape(n, 1);
  if (c.has(3))
    axes = c.constantInts(3, "axes");
  if (c.has(4))
    steps = c.constantInts(4, "steps");
  if (!axes || !steps ||
      !c.require(ends->size() == n && axes->size() == n && steps->size() == n,
                 "starts, ends, axes and steps differ in length") ||
      !c.sortedAxes(*axes, x.rank()))
    return;
  Shape low(x.rank(), 0), high = x.shape(), stride(x.rank(), 1), reversed;
  for (size_t i = 0; i < n; ++i) {
    int64_t axis = normalizedAxis((*axes)[i], x.rank());
    if (!c.require((*steps)[i] != 0, "a step is 0"))
      return;
    SliceRange range =
        sliceRange((*starts)[i], (*ends)[i], (*steps)[i], x.dim(axis));
    low[axis] = range.start;
    high[axis] = range.limit;
    stride[axis] = range.stride;
    if (range.reversed)
      reversed.push_back(axis);
  }
  std::sort(reversed.begin(), reversed.end());
  c.out(0, c.e.reverse(c.e.slice(x, low, high, stride), reversed));
}

void importPad(NodeContext &c) {
  if (!c.needInputs(2))
    return;
  Val x = c.in(0);
  auto pads = c.constantInts(1, "pads");
  std::optional<Shape> axes = iotaShape(x.rank());
  if (c.has(3))
    axes = c.constantInts(3, "axes");
  if (!pads || !axes || !c.sortedAxes(*axes, x.rank()) ||
      !c.require(pads->size() == 2 * axes->size(),
                 "pads has " + std::to_string(pads->size()) + " entries for " +
                     std::to_string(axes->size()) + " axes"))
    return;
  Shape low(x.rank(), 0), high(x.rank(), 0);
  for (size_t i = 0; i < axes->size(); ++i) {
    int64_t axis = normalizedAxis((*axes)[i], x.rank());
    low[axis] = (*pads)[i];
    high[axis] = (*pads)[axes->size() + i];
  }
  auto mode = pipe::symbolizePadMode(c.stringAttr("mode", "constant"));
  if (!c.require(mode.has_value(),
                 "mode '" + c.stringAttr("mode", "") + "' is unknown"))
    return;
  if (*mode != pipe::PadMode::constant) {
    // Negative pads crop before the rest is filled from what is left.
    Shape starts(x.rank(), 0), limits = x.shape();
    for (int64_t d = 0; d < x.rank(); ++d) {
      starts[d] = std::max<int64_t>(-std::max<int64_t>(low[d], -x.dim(d)), 0);
      limits[d] += std::min<int64_t>(std::max<int64_t>(high[d], -x.dim(d)), 0);
      low[d] = std::max<int64_t>(low[d], 0);
      high[d] = std::max<int64_t>(high[d], 0);
    }
    x = c.e.slice(x, starts, limits, Shape(x.rank(), 1));
  }
  Val value = c.has(2) ? c.e.reshape(c.e.convert(c.in(2), x.dtype()), {})
                       : c.e.number(0, x.dtype());
  c.out(0, c.e.pad(*mode, x, value, low, high));
}

void importTile(NodeContext &c) {
  if (!c.needInputs(2))
    return;
  Val x = c.in(0);
  auto repeats = c.constantInts(1, "repeats");
  if (!repeats ||
      !c.require(static_cast<int64_t>(repeats->size()) == x.rank(),
                 "repeats has " + std::to_string(repeats->size()) +
                     " entries for rank " + std::to_string(x.rank())))
    return;
  Shape split, stretched, shape;
  for (int64_t d = 0; d < x.rank(); ++d) {
    int64_t count = (*repeats)[d];
    if (!c.require(count >= 0, "a repeat is negative"))
      return;
    if (count == 0)
      x = c.e.sliceDim(x, d, 0, 0);
    count = std::max<int64_t>(count, 1);
    int64_t size = 0;
    if (!c.require(!__builtin_mul_overflow(count, x.dim(d), &size),
                   "the result is too large"))
      return;
    split.insert(split.end(), {1, x.dim(d)});
    stretched.insert(stretched.end(), {count, x.dim(d)});
    shape.push_back(size);
  }
  if (x && shape == x.shape())
    c.out(0, x);
  else
    c.out(0,
          c.e.reshape(c.e.broadcast(c.e.reshape(x, split), stretched), shape));
}

void importDepthToSpace(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  Val x = c.in(0);
  int64_t block = c.intAttr("blocksize", 0);
  bool columns = c.stringAttr("mode", "DCR") == "CRD";
  if (!c.require(x.rank() == 4 && block > 0 && block < 32768 &&
                     x.dim(1) % (block * block) == 0,
                 "blocksize " + std::to_string(block) + " does not fit " +
                     shapeText(x.shape())))
    return;
  int64_t channels = x.dim(1) / (block * block);
  Val split = columns ? c.e.reshape(x, {x.dim(0), channels, block, block,
                                        x.dim(2), x.dim(3)})
                      : c.e.reshape(x, {x.dim(0), block, block, channels,
                                        x.dim(2), x.dim(3)});
  Val moved = c.e.transpose(split, columns ? Shape{0, 1, 4, 2, 5, 3}
                                           : Shape{0, 3, 4, 1, 5, 2});
  c.out(0, c.e.reshape(moved, {x.dim(0), channels, x.dim(2) * block,
                               x.dim(3) * block}));
}

void importSpaceToDepth(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  Val x = c.in(0);
  int64_t block = c.intAttr("blocksize", 0);
  if (!c.require(x.rank() == 4 && block > 0 && block < 32768 &&
                     x.dim(2) % block == 0 && x.dim(3) % block == 0,
                 "blocksize " + std::to_string(block) + " does not fit " +
                     shapeText(x.shape())))
    return;
  int64_t height = x.dim(2) / block, width = x.dim(3) / block;
  Val split = c.e.reshape(x, {x.dim(0), x.dim(1), height, block, width, block});
  bool columns = c.stringAttr("mode", "DCR") == "CRD";
  Val moved = c.e.transpose(split, columns ? Shape{0, 1, 3, 5, 2, 4}
                                           : Shape{0, 3, 5, 1, 2, 4});
  c.out(0, c.e.reshape(moved,
                       {x.dim(0), x.dim(1) * block * block, height, width}));
}

void importReverseSequence(NodeContext &c) {
  if (!c.needInputs(2))
    return;
  Val x = c.in(0);
  int64_t batch = c.intAttr("batch_axis", 1), time = c.intAttr("time_axis", 0);
  if (!c.require(x.rank() >= 2 && batch >= 0 && batch < 2 && time == 1 - batch,
                 "batch_axis and time_axis are not 0 and 1"))
    return;
  Shape ones(x.rank(), 1), alongBatch = ones, alongTime = ones;
  alongBatch[batch] = x.dim(batch);
  alongTime[time] = x.dim(time);
  Val position = c.e.iota({DType::I64, alongTime}, time);
  Val length = c.e.reshape(c.e.convert(c.in(1), DType::I64), alongBatch);
  Val inside = c.e.compare(pipe::CompareKind::lt, position, length);
  Val mirrored = c.e.sub(c.e.addNumber(length, -1), position);
  Val indices =
      c.e.broadcast(c.e.select(inside, mirrored, position), x.shape());
  c.out(0, c.e.emit1("gather_elements", {x, indices},
                     c.e.attrs().i64("dim", time)));
}

void importTrilu(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  Val x = c.in(0);
  int64_t diagonal = 0;
  if (c.has(1)) {
    auto given = c.constantInts(1, "k");
    if (!given || !c.require(given->size() == 1, "k is not one number"))
      return;
    diagonal =
        std::clamp<int64_t>((*given)[0], -(int64_t(1) << 40), int64_t(1) << 40);
  }
  if (!c.require(x.rank() >= 2, "the data has rank " +
                                    std::to_string(x.rank()) +
                                    ", not 2 or more"))
    return;
  int64_t rows = x.dim(x.rank() - 2), columns = x.dim(x.rank() - 1);
  Val row = c.e.iota({DType::I64, {rows, 1}}, 0),
      column = c.e.iota({DType::I64, {1, columns}}, 1);
  Val border = c.e.add(row, c.e.reshape(c.e.ints({diagonal}), {}));
  bool upper = c.intAttr("upper", 1) != 0;
  Val kept = c.e.compare(upper ? pipe::CompareKind::ge : pipe::CompareKind::le,
                         column, border);
  c.out(0, c.e.select(kept, x, c.e.number(0, x.dtype())));
}

constexpr OpEntry kTable[] = {
    {"Concat", 13, importConcat},
    {"Split", 13, importSplit},
    {"Slice", 13, importSlice},
    {"Pad", 13, importPad},
    {"Tile", 13, importTile},
    {"DepthToSpace", 13, importDepthToSpace},
    {"SpaceToDepth", 13, importSpaceToDepth},
    {"ReverseSequence", 13, importReverseSequence},
    {"Trilu", 14, importTrilu},
};

} // namespace

OpTable layoutOps() { return {kTable, std::size(kTable)}; }

} // namespace pipec::onnx
