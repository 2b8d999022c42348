// The emitter's calls by op: see Emitter.h.
//
// In: operands. Out: the op's result, or the operand itself where the op would
// change nothing. Tests: test/unit/frontends/ImportTest.cpp.
#include "frontends/common/Emitter.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pipec::frontend {

int64_t normalizedAxis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    return rank;
  return axis < 0 ? axis + rank : axis;
}

Shape iotaShape(int64_t n) {
  Shape shape(n);
  std::iota(shape.begin(), shape.end(), 0);
  return shape;
}

/// Calls `use(T())` with the element type of `tensor`; 16-bit floats and bool
/// have calls of their own.
template <typename Use> static void byElementType(DType dtype, Use use) {
  switch (dtype) {
  case DType::Bool:
  case DType::U8:
    return use(uint8_t());
  case DType::I8:
    return use(int8_t());
  case DType::I16:
    return use(int16_t());
  case DType::U16:
    return use(uint16_t());
  case DType::I32:
    return use(int32_t());
  case DType::U32:
    return use(uint32_t());
  case DType::I64:
    return use(int64_t());
  case DType::U64:
    return use(uint64_t());
  case DType::F32:
    return use(float());
  case DType::F64:
    return use(double());
  case DType::F16:
  case DType::BF16:
    return;
  }
}

Shape integersOf(const Tensor &tensor) {
  Shape values(tensor.numElements());
  if (isFloat(tensor.dtype())) {
    std::vector<double> numbers = numbersOf(tensor);
    std::transform(
        numbers.begin(), numbers.end(), values.begin(), [](double number) {
          return std::abs(number) < 9e18 ? static_cast<int64_t>(number) : 0;
        });
    return values;
  }
  byElementType(tensor.dtype(), [&](auto zero) {
    const auto *elements = tensor.as<decltype(zero)>();
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<int64_t>(elements[i]);
  });
  return values;
}

std::vector<double> numbersOf(const Tensor &tensor) {
  std::vector<double> values(tensor.numElements());
  for (size_t i = 0; i < values.size(); ++i)
    if (tensor.dtype() == DType::F16)
      values[i] = halfToFloat(tensor.as<uint16_t>()[i]);
    else if (tensor.dtype() == DType::BF16)
      values[i] = bfloat16ToFloat(tensor.as<uint16_t>()[i]);
  byElementType(tensor.dtype(), [&](auto zero) {
    const auto *elements = tensor.as<decltype(zero)>();
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<double>(elements[i]);
  });
  return values;
}

Val Emitter::compare(pipe::CompareKind kind, const Val &a, const Val &b) {
  return emit1(
      "compare", {a, b},
      attrs().set("kind", pipe::CompareKindAttr::get(context(), kind)));
}

Val Emitter::remainder(pipe::RemainderKind kind, const Val &a, const Val &b) {
  return emit1(
      "remainder", {a, b},
      attrs().set("kind", pipe::RemainderKindAttr::get(context(), kind)));
}

Val Emitter::reshape(const Val &x, const Shape &shape) {
  return !x || x.shape() == shape
             ? x
             : emit1("reshape", {x}, attrs().ints("shape", shape));
}

Val Emitter::transpose(const Val &x, const Shape &permutation) {
  return !x || permutation == iotaShape(x.rank())
             ? x
             : emit1("transpose", {x},
                     attrs().ints("permutation", permutation));
}

Val Emitter::broadcast(const Val &x, const Shape &shape) {
  return !x || x.shape() == shape
             ? x
             : emit1("broadcast", {x}, attrs().ints("shape", shape));
}

Val Emitter::slice(const Val &x, const Shape &starts, const Shape &limits,
                   const Shape &strides) {
  if (x && starts == Shape(x.rank(), 0) && limits == x.shape() &&
      strides == Shape(x.rank(), 1))
    return x;
  return emit1("slice", {x},
               attrs()
                   .ints("starts", starts)
                   .ints("limits", limits)
                   .ints("strides", strides));
}

Val Emitter::sliceDim(const Val &x, int64_t dim, int64_t start, int64_t limit) {
  if (!x || dim < 0 || dim >= x.rank())
    return Val();
  Shape starts(x.rank(), 0), limits = x.shape();
  starts[dim] = start;
  limits[dim] = limit;
  return slice(x, starts, limits, Shape(x.rank(), 1));
}

Val Emitter::reverse(const Val &x, const Shape &dims) {
  return dims.empty() ? x : emit1("reverse", {x}, attrs().ints("dims", dims));
}

Val Emitter::concat(const std::vector<Val> &parts, int64_t dim) {
  return parts.size() == 1 ? parts[0]
                           : emit1("concat", parts, attrs().i64("dim", dim));
}

Val Emitter::pad(pipe::PadMode mode, const Val &x, const Val &value,
                 const Shape &low, const Shape &high) {
  Shape none(low.size(), 0);
  if (low == none && high == none)
    return x;
  return emit1("pad", {x, value},
               attrs()
                   .set("mode", pipe::PadModeAttr::get(context(), mode))
                   .ints("low", low)
                   .ints("high", high));
}

Val Emitter::reduce(pipe::ReduceKind kind, const Val &x, const Shape &dims,
                    bool keepDims) {
  // Of a scalar it is there, although it does nothing: a squeeze makes one of
  // one row, and the mean over rows has to be found.
  if (dims.empty() && x.rank() != 0)
    return x;
  return emit1("reduce", {x},
               attrs()
                   .set("kind", pipe::ReduceKindAttr::get(context(), kind))
                   .ints("dims", dims)
                   .flag("keep_dims", keepDims));
}

Val Emitter::gather(const Val &x, const Val &indices, int64_t dim) {
  return emit1("gather", {x, indices}, attrs().i64("dim", dim));
}

Val Emitter::dot(const Val &lhs, const Val &rhs, const Shape &lhsBatch,
                 const Shape &rhsBatch, const Shape &lhsContract,
                 const Shape &rhsContract) {
  return emit1("dot_general", {lhs, rhs},
               attrs()
                   .ints("lhs_batch", lhsBatch)
                   .ints("rhs_batch", rhsBatch)
                   .ints("lhs_contract", lhsContract)
                   .ints("rhs_contract", rhsContract));
}

/// Writes `value` as element `i`; the caller gives values in range of `dtype`.
static void putNumber(Tensor &tensor, int64_t i, double value) {
  if (tensor.dtype() == DType::F16)
    tensor.as<uint16_t>()[i] = floatToHalf(static_cast<float>(value));
  else if (tensor.dtype() == DType::BF16)
    tensor.as<uint16_t>()[i] = floatToBfloat16(static_cast<float>(value));
  byElementType(tensor.dtype(), [&](auto zero) {
    tensor.as<decltype(zero)>()[i] = static_cast<decltype(zero)>(value);
  });
}

Val Emitter::number(double value, DType dtype, const Shape &shape) {
  if (!ok())
    return Val();
  auto scalar = Tensor::allocate({dtype, {}});
  if (!scalar.ok()) {
    fail(scalar.status());
    return Val();
  }
  putNumber(*scalar, 0, value);
  return broadcast(constant(*scalar), shape);
}

Val Emitter::ints(const Shape &values) {
  auto tensor = Tensor::copyOf(
      {DType::I64, {static_cast<int64_t>(values.size())}}, values.data());
  if (!tensor.ok()) {
    fail(tensor.status());
    return Val();
  }
  return constant(*tensor);
}

} // namespace pipec::frontend
