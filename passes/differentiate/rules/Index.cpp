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

LogicalResult refuseKind(Operation *op, ScatterKind kind) {
  return op->emitOpError("with ")
         << stringifyScatterKind(kind)
         << " has no derivative here; only set and add have one";
}

// `set` keeps nothing of the operand where it writes. Of two updates to one
// place the gradient goes to both, as in ATen.
LogicalResult scatterElementsVjp(ScatterElementsOp op, Vjp &v) {
  Value g = v.grad();
  OpBuilder &b = v.getBuilder();
  if (op.getKind() != ScatterKind::set && op.getKind() != ScatterKind::add)
    return refuseKind(op, op.getKind());
  if (v.needs(0)) {
    bool keeps = op.getKind() == ScatterKind::add;
    v.set(0, keeps ? g
                   : ScatterElementsOp::create(
                         b, v.getLoc(), ScatterKind::set, g, op.getIndices(),
                         v.zeros(op.getUpdates().getType()), op.getDim())
                         .getResult());
  }
  if (v.needs(2))
    v.set(2, GatherElementsOp::create(b, v.getLoc(), g, op.getIndices(),
                                      op.getDim()));
  return success();
}

LogicalResult scatterNdVjp(ScatterNdOp op, Vjp &v) {
  Value g = v.grad();
  OpBuilder &b = v.getBuilder();
  if (op.getKind() != ScatterKind::set && op.getKind() != ScatterKind::add)
    return refuseKind(op, op.getKind());
  if (v.needs(0)) {
    bool keeps = op.getKind() == ScatterKind::add;
    v.set(0, keeps ? g
                   : ScatterNdOp::create(b, v.getLoc(), ScatterKind::set, g,
                                         op.getIndices(),
                                         v.zeros(op.getUpdates().getType()))
                         .getResult());
  }
  if (v.needs(2))
    v.set(2, GatherNdOp::create(b, v.getLoc(), g, op.getIndices(), 0));
  return success();
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
  derive<scatterElementsVjp>(context);
  derive<scatterNdVjp>(context);
  derive<resizeVjp>(context);
}

} // namespace pipec::pipe
