// Derivatives of gather, scatter and resize. A gradient goes back to the place
// that was read; places read several times add up in row-major order.
// Tests: test/unit/passes/differentiate/IndexDerivativesTest.cpp.
#include "passes/differentiate/Derivatives.h"

using namespace mlir;

namespace pipec::pipe {
namespace {

void gatherVjp(GatherOp op, Vjp &v) {
  const int64_t dim = op.getDim();
  Value g =
      v.indexAdd(shapeOf(op.getOperand()), dim, op.getIndices(), v.grad());
  // Indices may count from the end, so the sums are cleared, not what goes in.
  if (auto padding = op.getPaddingIndex()) {
    const int64_t row = static_cast<int64_t>(*padding), size = shapeOf(g)[dim];
    Shape cleared(shapeOf(g));
    cleared[dim] = 1;
    llvm::SmallVector<Value> parts;
    if (row > 0)
      parts.push_back(v.slice(g, dim, 0, row));
    parts.push_back(v.zeros(RankedTensorType::get(cleared, elementTypeOf(g))));
    if (row + 1 < size)
      parts.push_back(v.slice(g, dim, row + 1, size));
    g = parts.size() == 1 ? parts[0] : v.concat(parts, dim);
  }
  v.set(0, g);
}

void gatherElementsVjp(GatherElementsOp op, Vjp &v) {
  v.set(0,
        ScatterElementsOp::create(v.getBuilder(), v.getLoc(), ScatterKind::add,
                                  v.zeros(op.getOperand().getType()),
                                  op.getIndices(), v.grad(), op.getDim()));
}

// Indices that start with the batch dimensions' own positions.
Value withBatchPositions(Vjp &v, Value indices, int64_t batchDims) {
  Shape shape(shapeOf(indices));
  llvm::SmallVector<Value> parts;
  Shape column(shape);
  column.back() = 1;
  for (int64_t d = 0; d < batchDims; ++d)
    parts.push_back(v.iota(column, d));
  parts.push_back(v.convert(indices, v.getBuilder().getI64Type()));
  return v.concat(parts, static_cast<int64_t>(shape.size()) - 1);
}

void gatherNdVjp(GatherNdOp op, Vjp &v) {
  Value indices = op.getIndices();
  if (op.getBatchDims() > 0)
    indices = withBatchPositions(v, indices, op.getBatchDims());
  v.set(0, ScatterNdOp::create(v.getBuilder(), v.getLoc(), ScatterKind::add,
                               v.zeros(op.getOperand().getType()), indices,
                               v.grad()));
}

// The places that a scatter writes to: its own index form for other values.
struct Places {
  Vjp &v;
  Operation *op;

  Value scatter(ScatterKind kind, Value operand, Value updates) {
    if (auto elements = dyn_cast<ScatterElementsOp>(op))
      return ScatterElementsOp::create(v.getBuilder(), v.getLoc(), kind,
                                       operand, elements.getIndices(), updates,
                                       elements.getDim());
    return ScatterNdOp::create(v.getBuilder(), v.getLoc(), kind, operand,
                               cast<ScatterNdOp>(op).getIndices(), updates);
  }
  Value gather(Value operand) {
    if (auto elements = dyn_cast<ScatterElementsOp>(op))
      return GatherElementsOp::create(v.getBuilder(), v.getLoc(), operand,
                                      elements.getIndices(), elements.getDim());
    return GatherNdOp::create(v.getBuilder(), v.getLoc(), operand,
                              cast<ScatterNdOp>(op).getIndices(), 0);
  }
};

// The operand's element and all updates that equal the extreme share the
// gradient evenly, as those of a reduction do (ATen's scatter_reduce).
void scatterExtremeVjp(Value x, Value updates, Value result, Places at,
                       Vjp &v) {
  Type element = elementTypeOf(x);
  Value isResult = v.compare(CompareKind::eq, x, result);
  Value updateIsResult = v.compare(CompareKind::eq, updates, at.gather(result));
  Value count = at.scatter(ScatterKind::add, v.convert(isResult, element),
                           v.convert(updateIsResult, element));
  Value share = v.div(v.grad(), count);
  if (v.needs(0))
    v.set(0, v.select(isResult, share, v.scalar(0, share)));
  if (v.needs(2))
    v.set(2, v.select(updateIsResult, at.gather(share), v.scalar(0, share)));
}

// The product of a place's other factors is the result over the factor. Where
// a factor is 0, that product is made with 1 in its place; of several zeros
// at a place each has another beside it, so 1 stands in for a lone one only.
void scatterProductVjp(Value x, Value updates, Value result, Places at,
                       Vjp &v) {
  Value g = v.grad(), one = v.scalar(1, x), zero = v.scalar(0, x);
  Value isZero = v.compare(CompareKind::eq, x, zero);
  if (v.needs(0)) {
    Value factor = v.select(isZero, one, x);
    Value product = at.scatter(ScatterKind::mul, factor, updates);
    v.set(0, v.chainDiv(v.chain(g, product), factor));
  }
  if (!v.needs(2))
    return;
  Value updateIsZero = v.compare(CompareKind::eq, updates, zero);
  Value zeros = at.scatter(ScatterKind::add, v.zeros(x.getType()),
                           v.convert(updateIsZero, elementTypeOf(x)));
  Value isLone =
      AndOp::create(v.getBuilder(), v.getLoc(), updateIsZero,
                    v.compare(CompareKind::eq, at.gather(zeros), one));
  Value others =
      at.scatter(ScatterKind::mul, x, v.select(isLone, one, updates));
  Value factor = v.select(updateIsZero, one, updates);
  v.set(2, v.select(isLone, at.gather(v.chain(g, others)),
                    v.chainDiv(at.gather(v.chain(g, result)), factor)));
}

// `set` keeps nothing of the operand where it writes. Of two updates to one
// place the gradient goes to both, as in ATen.
template <typename OpT> void scatterVjp(OpT op, Vjp &v) {
  Value x = op.getOperand(), updates = op.getUpdates();
  Places at{v, op};
  switch (op.getKind()) {
  case ScatterKind::set:
    if (v.needs(0))
      v.set(0,
            at.scatter(ScatterKind::set, v.grad(), v.zeros(updates.getType())));
    break;
  case ScatterKind::add:
    if (v.needs(0))
      v.set(0, v.grad());
    break;
  case ScatterKind::mul:
    return scatterProductVjp(x, updates, op.getResult(), at, v);
  case ScatterKind::max:
  case ScatterKind::min:
    return scatterExtremeVjp(x, updates, op.getResult(), at, v);
  }
  if (v.needs(2))
    v.set(2, at.gather(v.grad()));
}

void resizeVjp(ResizeOp op, Vjp &v) {
  v.set(0, ResizeGradOp::create(
               v.getBuilder(), v.getLoc(), op.getMode(), v.grad(),
               shapeOf(op.getOperand()), op.getScales(), op.getCoordinates(),
               op.getRounding(), op.getCubicCoeff(), op.getExcludeOutside()));
}

} // namespace

void registerIndexDerivatives(MLIRContext &context) {
  derive<gatherVjp>(context);
  derive<gatherElementsVjp>(context);
  derive<gatherNdVjp>(context);
  derive<scatterVjp<ScatterElementsOp>>(context);
  derive<scatterVjp<ScatterNdOp>>(context);
  derive<resizeVjp>(context);
}

} // namespace pipec::pipe
