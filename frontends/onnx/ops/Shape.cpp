// Operators that give a tensor another shape or tell its shape.
//
// In: nodes such as Reshape, Squeeze, Expand, Shape. Out: `pipe` reshapes,
// transposes and broadcasts with static sizes; Shape and Size are constants.
// Tests: test/unit/frontends/ImportTest.cpp, test/conformance/onnx_nodes.py.
#include "frontends/common/Text.h"
#include "frontends/onnx/ops/NodeContext.h"
#include "frontends/onnx/ops/OpTable.h"

#include <algorithm>

namespace pipec::onnx {
namespace {

/// Product of some dimensions; -1 on overflow, which no shape takes.
int64_t product(const Shape &shape, size_t begin, size_t end) {
  int64_t size = 1;
  for (size_t i = begin; i < end; ++i)
    if (__builtin_mul_overflow(size, shape[i], &size))
      return -1;
  return size;
}

/// Replaces 0 and -1 of a Reshape's shape by sizes.
std::optional<Shape> resolvedShape(NodeContext &c, const Val &x,
                                   const Shape &wanted) {
  bool keepZero = c.intAttr("allowzero", 0) != 0;
  Shape shape = wanted;
  std::optional<size_t> open;
  TensorType rest{DType::U8, {}};
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !keepZero) {
      if (!c.require(static_cast<int64_t>(i) < x.rank(),
                     "shape " + shapeText(wanted) + " copies dimension " +
                         std::to_string(i) + ", which the data " +
                         shapeText(x.shape()) + " does not have"))
        return std::nullopt;
      shape[i] = x.dim(i);
    }
    if (!c.require(shape[i] >= -1 && !(shape[i] == -1 && open),
                   "shape " + shapeText(wanted) + " is not valid"))
      return std::nullopt;
    if (shape[i] == -1)
      open = i;
    else
      rest.shape.push_back(shape[i]);
  }
  auto elements = checkedByteSize(rest);
  int64_t known = elements.ok() ? static_cast<int64_t>(*elements) : -1;
  bool fits = open ? known > 0 && x.numElements() % known == 0
                   : known == x.numElements();
  if (open && known == 0 && x.numElements() == 0)
    return c.refuse("shape " + shapeText(wanted) +
                    " leaves a dimension of an empty tensor open"),
           std::nullopt;
  if (!c.require(fits,
                 "cannot reshape " + shapeText(x.shape()) + " (" +
                     std::to_string(x.numElements()) + " elements) to " +
                     shapeText(wanted) +
                     "; if the shape holds a size of the export (its batch, "
                     "its sequence length), export the model with that "
                     "dimension dynamic, or give inputs and microbatches of "
                     "that size"))
    return std::nullopt;
  if (open)
    shape[*open] = x.numElements() / known;
  return shape;
}

void importReshape(NodeContext &c) {
  if (!c.needInputs(2))
    return;
  auto wanted = c.constantInts(1, "the shape");
  if (!wanted)
    return;
  if (auto shape = resolvedShape(c, c.in(0), *wanted))
    c.out(0, c.e.reshape(c.in(0), *shape));
}

void importSqueeze(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  Val x = c.in(0);
  auto given = c.attrOrInput("axes", 1);
  if (!c.ok())
    return;
  std::optional<Shape> axes = Shape();
  if (given)
    axes = c.sortedAxes(*given, x.rank());
  else
    for (int64_t d = 0; d < x.rank(); ++d)
      if (x.dim(d) == 1)
        axes->push_back(d);
  if (!axes)
    return;
  Shape shape;
  for (int64_t d = 0; d < x.rank(); ++d) {
    bool drop = std::binary_search(axes->begin(), axes->end(), d);
    if (drop &&
        !c.require(x.dim(d) == 1, "dimension " + std::to_string(d) + " of " +
                                      shapeText(x.shape()) +
                                      " is not 1 and cannot be squeezed"))
      return;
    if (!drop)
      shape.push_back(x.dim(d));
  }
  c.out(0, c.e.reshape(x, shape));
}

void importUnsqueeze(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  auto given = c.attrOrInput("axes", 1);
  if (!c.require(given.has_value(), "axes are missing"))
    return;
  int64_t rank = c.in(0).rank() + static_cast<int64_t>(given->size());
  auto axes = c.sortedAxes(*given, rank);
  if (!axes)
    return;
  Shape shape;
  int64_t next = 0;
  for (int64_t d = 0; d < rank; ++d)
    shape.push_back(std::binary_search(axes->begin(), axes->end(), d)
                        ? 1
                        : c.in(0).dim(next++));
  c.out(0, c.e.reshape(c.in(0), shape));
}

void importFlatten(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  const Shape &shape = c.in(0).shape();
  int64_t rank = c.in(0).rank(), axis = c.intAttr("axis", 1);
  if (!c.require(axis >= -rank && axis <= rank,
                 "axis " + std::to_string(axis) + " is out of range"))
    return;
  axis = axis < 0 ? axis + rank : axis;
  c.out(0, c.e.reshape(c.in(0),
                       {product(shape, 0, axis), product(shape, axis, rank)}));
}

void importTranspose(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  int64_t rank = c.in(0).rank();
  Shape permutation = iotaShape(rank);
  std::reverse(permutation.begin(), permutation.end());
  if (c.hasAttr("perm"))
    permutation = c.intsAttr("perm");
  Shape sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  if (c.require(sorted == iotaShape(rank),
                "perm " + shapeText(permutation) + " is no permutation of " +
                    std::to_string(rank) + " dimensions"))
    c.out(0, c.e.transpose(c.in(0), permutation));
}

void importExpand(NodeContext &c) {
  if (!c.needInputs(2))
    return;
  auto wanted = c.constantInts(1, "the shape");
  if (!wanted)
    return;
  const Shape &have = c.in(0).shape();
  Shape shape(std::max(have.size(), wanted->size()), 1);
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t a = i < have.size() ? have[have.size() - 1 - i] : 1;
    int64_t b = i < wanted->size() ? (*wanted)[wanted->size() - 1 - i] : 1;
    if (!c.require(a == b || a == 1 || b == 1, "cannot expand " +
                                                   shapeText(have) + " to " +
                                                   shapeText(*wanted)))
      return;
    shape[shape.size() - 1 - i] = a == 1 ? b : a;
  }
  c.out(0, c.e.broadcast(c.in(0), shape));
}

void importShape(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  int64_t rank = c.in(0).rank();
  auto bound = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  int64_t start = bound(c.intAttr("start", 0)),
          end = bound(c.intAttr("end", rank));
  const Shape &shape = c.in(0).shape();
  c.out(0,
        c.e.ints(start < end ? Shape(shape.begin() + start, shape.begin() + end)
                             : Shape()));
}

void importSize(NodeContext &c) {
  if (c.needInputs(1))
    c.out(0, c.e.reshape(c.e.ints({c.in(0).numElements()}), {}));
}

constexpr OpEntry kTable[] = {
    {"Reshape", 13, importReshape},     {"Squeeze", 13, importSqueeze},
    {"Unsqueeze", 13, importUnsqueeze}, {"Flatten", 13, importFlatten},
    {"Expand", 13, importExpand},       {"Transpose", 13, importTranspose},
    {"Shape", 13, importShape},         {"Size", 13, importSize},
};

} // namespace

OpTable shapeOps() { return {kTable, std::size(kTable)}; }

} // namespace pipec::onnx
