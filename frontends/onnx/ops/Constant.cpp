// Operators whose result is known from attributes, shapes or constants.
//
// In: nodes such as Constant, Range, ConstantOfShape, NonZero. Out: known Vals;
// large ones as `pipe` ops. Tests: test/unit/frontends/ImportTest.cpp,
// test/conformance/onnx_nodes.py.
#include "frontends/common/Text.h"
#include "frontends/onnx/ops/NodeContext.h"
#include "frontends/onnx/ops/OpTable.h"

#include <cmath>

namespace pipec::onnx {
namespace {

template <typename T>
void outElements(NodeContext &c, DType dtype, const Shape &shape,
                 const std::vector<T> &elements) {
  auto tensor = Tensor::copyOf({dtype, shape}, elements.data());
  if (tensor.ok())
    c.out(0, c.e.constant(*tensor));
  else
    c.refuse(tensor.status().message());
}

void importConstant(NodeContext &c) {
  auto floats = [&](const std::vector<double> &values) {
    return std::vector<float>(values.begin(), values.end());
  };
  if (c.hasAttr("value")) {
    if (auto tensor = c.tensorAttr("value"))
      c.out(0, c.e.constant(*tensor));
    else
      c.fail("the value is no tensor");
  } else if (c.hasAttr("value_float")) {
    outElements(c, DType::F32, {}, floats({c.floatAttr("value_float", 0)}));
  } else if (c.hasAttr("value_floats")) {
    auto values = floats(c.floatsAttr("value_floats"));
    outElements(c, DType::F32, {static_cast<int64_t>(values.size())}, values);
  } else if (c.hasAttr("value_int")) {
    outElements(c, DType::I64, {}, Shape{c.intAttr("value_int", 0)});
  } else if (c.hasAttr("value_ints")) {
    Shape values = c.intsAttr("value_ints");
    outElements(c, DType::I64, {static_cast<int64_t>(values.size())}, values);
  } else {
    const bool isSparse = c.hasAttr("sparse_value");
    const bool isText = c.hasAttr("value_string") || c.hasAttr("value_strings");
    if (isSparse || isText)
      c.refuse(isSparse ? "a sparse constant is not supported; store it dense"
                        : "a constant of strings is not supported");
    else
      c.fail("the constant has no value");
  }
}

void importConstantOfShape(NodeContext &c) {
  auto shape = c.constantInts(0, "the shape");
  if (!shape)
    return;
  for (int64_t size : *shape)
    if (!c.require(size >= 0,
                   "shape " + shapeText(*shape) + " has a negative size"))
      return;
  Val value = c.e.number(0, DType::F32);
  if (auto tensor = c.tensorAttr("value")) {
    if (!c.require(tensor->numElements() == 1, "the value is not one element"))
      return;
    value = c.e.reshape(c.e.constant(*tensor), {});
  }
  c.out(0, c.e.broadcast(value, *shape));
}

void importRange(NodeContext &c) {
  if (!c.needInputs(3))
    return;
  auto start = c.constantNumbers(0, "start"),
       limit = c.constantNumbers(1, "limit"),
       delta = c.constantNumbers(2, "delta");
  if (!start || !limit || !delta ||
      !c.require(start->size() == 1 && limit->size() == 1 && delta->size() == 1,
                 "start, limit and delta are not scalars") ||
      !c.require((*delta)[0] != 0, "delta is 0"))
    return;
  double count = std::ceil(((*limit)[0] - (*start)[0]) / (*delta)[0]);
  if (!c.require(count < double(int64_t(1) << 40),
                 "a Range of " + std::to_string(count) + " elements"))
    return;
  int64_t size = count > 0 ? static_cast<int64_t>(count) : 0;
  DType dtype = c.in(0).dtype();
  Val steps = c.e.iota({dtype, {size}}, 0);
  Val scaled = (*delta)[0] == 1 ? steps : c.e.mul(steps, c.in(2));
  c.out(0, (*start)[0] == 0 ? scaled : c.e.add(scaled, c.in(0)));
}

void importEyeLike(NodeContext &c) {
  if (!c.needInputs(1))
    return;
  Val x = c.in(0);
  DType dtype = x.dtype();
  if (c.hasAttr("dtype")) {
    auto given = dtypeFromOnnx(static_cast<int>(c.intAttr("dtype", 0)));
    if (!given.ok())
      return c.refuse(given.status().message());
    dtype = *given;
  }
  if (!c.require(x.rank() == 2,
                 "the input has rank " + std::to_string(x.rank()) + ", not 2"))
    return;
  Val row = c.e.iota({DType::I64, {x.dim(0), 1}}, 0),
      column = c.e.iota({DType::I64, {1, x.dim(1)}}, 1);
  Val diagonal = c.e.add(row, c.e.reshape(c.e.ints({c.intAttr("k", 0)}), {}));
  c.out(0, c.e.convert(c.e.compare(pipe::CompareKind::eq, diagonal, column),
                       dtype));
}

/// The result's size depends on the data, so the data must be known.
void importNonZero(NodeContext &c) {
  auto numbers = c.constantNumbers(0, "the data");
  if (!numbers)
    return;
  const Shape &shape = c.in(0).shape();
  std::vector<Shape> columns(shape.size());
  int64_t found = 0;
  for (size_t i = 0; i < numbers->size(); ++i) {
    if ((*numbers)[i] == 0)
      continue;
    ++found;
    int64_t rest = static_cast<int64_t>(i);
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d])
      columns[d].push_back(rest % shape[d]);
  }
  Shape elements;
  for (const Shape &column : columns)
    elements.insert(elements.end(), column.begin(), column.end());
  outElements(c, DType::I64, {c.in(0).rank(), found}, elements);
}

constexpr OpEntry kTable[] = {
    {"Constant", 13, importConstant},
    {"ConstantOfShape", 13, importConstantOfShape},
    {"Range", 13, importRange},
    {"EyeLike", 13, importEyeLike},
    {"NonZero", 13, importNonZero},
};

} // namespace

OpTable constantOps() { return {kTable, std::size(kTable)}; }

} // namespace pipec::onnx
