// The short forms that derivative rules are written in: see Vjp.h.
// Tests: test/unit/passes/differentiate/DerivativesTest.cpp.
#include "passes/differentiate/Vjp.h"

#include <numeric>

using namespace mlir;

#include "passes/differentiate/VjpInterface.cpp.inc"

namespace pipec::pipe {

Vjp::Vjp(OpBuilder &builder, Operation *op, llvm::ArrayRef<Value> grads,
         llvm::ArrayRef<bool> needed)
    : builder(builder), op(op), grads(grads), needed(needed),
      results(op->getNumOperands()) {}

Value Vjp::add(Value a, Value b) {
  return AddOp::create(builder, getLoc(), a, b);
}
Value Vjp::sub(Value a, Value b) {
  return SubOp::create(builder, getLoc(), a, b);
}
Value Vjp::mul(Value a, Value b) {
  return MulOp::create(builder, getLoc(), a, b);
}
Value Vjp::div(Value a, Value b) {
  return DivOp::create(builder, getLoc(), a, b);
}
Value Vjp::chain(Value g, Value slope) {
  return ChainOp::create(builder, getLoc(), ChainKind::mul, g, slope);
}
Value Vjp::chainDiv(Value g, Value slope) {
  return ChainOp::create(builder, getLoc(), ChainKind::div, g, slope);
}
Value Vjp::compare(CompareKind kind, Value a, Value b) {
  return CompareOp::create(builder, getLoc(), kind, a, b);
}
Value Vjp::select(Value condition, Value a, Value b) {
  return SelectOp::create(builder, getLoc(), condition, a, b);
}

static Value splat(OpBuilder &builder, Location loc, RankedTensorType type,
                   Attribute value) {
  return ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(cast<ShapedType>(type), llvm::ArrayRef(value)));
}

Value Vjp::scalar(double value, Value like) {
  Type element = elementTypeOf(like);
  return splat(builder, getLoc(), RankedTensorType::get({}, element),
               FloatAttr::get(element, value));
}

Value Vjp::zeros(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return splat(builder, getLoc(), tensor,
               FloatAttr::get(tensor.getElementType(), 0));
}

Value Vjp::iota(llvm::ArrayRef<int64_t> shape, int64_t dim) {
  return IotaOp::create(builder, getLoc(),
                        RankedTensorType::get(shape, builder.getI64Type()),
                        dim);
}

Value Vjp::intScalar(int64_t value) {
  return splat(builder, getLoc(),
               RankedTensorType::get({}, builder.getI64Type()),
               builder.getI64IntegerAttr(value));
}

Value Vjp::reduce(ReduceKind kind, Value a, llvm::ArrayRef<int64_t> dims,
                  bool keep) {
  return ReduceOp::create(builder, getLoc(), kind, a, dims, keep);
}

Value Vjp::sumTo(Value a, llvm::ArrayRef<int64_t> shape) {
  ShapeRef from = shapeOf(a);
  Shape dims;
  size_t lead = from.size() - shape.size();
  for (size_t d = 0; d < from.size(); ++d)
    if (d < lead || (shape[d - lead] == 1 && from[d] != 1))
      dims.push_back(static_cast<int64_t>(d));
  if (!dims.empty())
    a = reduce(ReduceKind::sum, a, dims, /*keep=*/true);
  return reshape(a, shape);
}

Value Vjp::reshape(Value a, llvm::ArrayRef<int64_t> shape) {
  if (shapeOf(a) == shape)
    return a;
  return ReshapeOp::create(builder, getLoc(), a, shape);
}

Value Vjp::transpose(Value a, llvm::ArrayRef<int64_t> permutation) {
  if (llvm::is_sorted(permutation))
    return a;
  return TransposeOp::create(builder, getLoc(), a, permutation);
}

Value Vjp::broadcast(Value a, llvm::ArrayRef<int64_t> shape) {
  if (shapeOf(a) == shape)
    return a;
  return BroadcastOp::create(builder, getLoc(), a, shape);
}

Value Vjp::slice(Value a, int64_t dim, int64_t start, int64_t limit) {
  ShapeRef from = shapeOf(a);
  if (start == 0 && limit == from[dim])
    return a;
  Shape starts(from.size(), 0), limits(from), strides(from.size(), 1);
  starts[dim] = start;
  limits[dim] = limit;
  return SliceOp::create(builder, getLoc(), a, starts, limits, strides);
}

Value Vjp::pad(Value a, int64_t dim, int64_t low, int64_t high) {
  if (low == 0 && high == 0)
    return a;
  Shape lows(shapeOf(a).size(), 0), highs(lows);
  lows[dim] = low;
  highs[dim] = high;
  return PadOp::create(builder, getLoc(), PadMode::constant, a, scalar(0, a),
                       lows, highs);
}

Value Vjp::concat(llvm::ArrayRef<Value> parts, int64_t dim) {
  return ConcatOp::create(builder, getLoc(), parts, dim);
}

Value Vjp::convert(Value a, Type elementType) {
  auto type = cast<RankedTensorType>(a.getType());
  if (type.getElementType() == elementType)
    return a;
  return ConvertOp::create(builder, getLoc(), type.clone(elementType), a);
}

Value Vjp::indexAdd(llvm::ArrayRef<int64_t> shape, int64_t dim, Value indices,
                    Value updates) {
  // scatter_nd writes slices of the first dimension: `dim` goes first, and the
  // dimensions of the indices before those that stay.
  auto rank = static_cast<int64_t>(shape.size());
  auto indexRank = static_cast<int64_t>(shapeOf(indices).size());
  Shape first{dim}, order, back(rank);
  for (int64_t d = 0; d < rank; ++d)
    if (d != dim)
      first.push_back(d);
  for (int64_t d = 0; d < indexRank; ++d)
    order.push_back(dim + d);
  for (int64_t d = 0; d < rank + indexRank - 1; ++d)
    if (d < dim || d >= dim + indexRank)
      order.push_back(d);
  Shape turned, positions(shapeOf(indices));
  for (auto [k, d] : llvm::enumerate(first)) {
    turned.push_back(shape[d]);
    back[d] = static_cast<int64_t>(k);
  }
  positions.push_back(1);
  Value base = zeros(RankedTensorType::get(turned, elementTypeOf(updates)));
  Value sum = ScatterNdOp::create(builder, getLoc(), ScatterKind::add, base,
                                  reshape(indices, positions),
                                  transpose(updates, order));
  return transpose(sum, back);
}

} // namespace pipec::pipe
