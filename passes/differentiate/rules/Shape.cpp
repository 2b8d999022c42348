// Derivatives of data movement: the movement back.
// Tests: test/unit/passes/differentiate/ShapeDerivativesTest.cpp.
#include "passes/differentiate/Derivatives.h"

#include <numeric>

using namespace mlir;

namespace pipec::pipe {
namespace {

void reshapeVjp(ReshapeOp op, Vjp &v) {
  v.set(0, v.reshape(v.grad(), shapeOf(op.getOperand())));
}

void transposeVjp(TransposeOp op, Vjp &v) {
  Shape back(op.getPermutation().size());
  for (auto [k, d] : llvm::enumerate(op.getPermutation()))
    back[d] = static_cast<int64_t>(k);
  v.set(0, v.transpose(v.grad(), back));
}

void broadcastVjp(BroadcastOp op, Vjp &v) {
  v.set(0, v.sumTo(v.grad(), shapeOf(op.getOperand())));
}

// Zeros between the elements along `dim`: `stride` - 1 behind each.
Value spread(Vjp &v, Value g, int64_t dim, int64_t stride) {
  Shape apart(shapeOf(g)), joined(apart);
  apart.insert(apart.begin() + dim + 1, 1);
  joined[dim] *= stride;
  return v.reshape(v.pad(v.reshape(g, apart), dim + 1, 0, stride - 1), joined);
}

void sliceVjp(SliceOp op, Vjp &v) {
  Value g = v.grad();
  ShapeRef shape = shapeOf(op.getOperand());
  for (size_t d = 0; d < shape.size(); ++d) {
    auto dim = static_cast<int64_t>(d);
    if (op.getStrides()[d] != 1)
      g = spread(v, g, dim, op.getStrides()[d]);
    int64_t low = op.getStarts()[d];
    // Negative where the spreading goes beyond the end.
    g = v.pad(g, dim, low, shape[d] - low - shapeOf(g)[d]);
  }
  v.set(0, g);
}

void reverseVjp(ReverseOp op, Vjp &v) {
  v.set(0,
        ReverseOp::create(v.getBuilder(), v.getLoc(), v.grad(), op.getDims()));
}

void constantPadVjp(PadOp op, Vjp &v) {
  Value g = v.grad();
  ShapeRef shape = shapeOf(op.getOperand());
  if (v.needs(0)) {
    Value inner = g;
    for (size_t d = 0; d < shape.size(); ++d)
      inner = v.pad(inner, static_cast<int64_t>(d), -op.getLow()[d],
                    -op.getHigh()[d]);
    v.set(0, inner);
  }
  if (!v.needs(1))
    return;
  // The value's gradient is that of all padded places: of everything less that
  // of the operand's places, by a mask rather than a difference.
  Value mask = v.broadcast(v.scalar(0, g), shape);
  mask = PadOp::create(v.getBuilder(), v.getLoc(), PadMode::constant, mask,
                       v.scalar(1, g), op.getLow(), op.getHigh());
  Shape all(shapeOf(g).size());
  std::iota(all.begin(), all.end(), 0);
  v.set(1, v.reduce(ReduceKind::sum, v.mul(g, mask), all, /*keep=*/false));
}

// Where each position of a dimension padded in `mode` reads from.
Value sourcePositions(Vjp &v, PadMode mode, int64_t low, int64_t high,
                      int64_t size) {
  Value i = v.iota({size}, 0);
  return PadOp::create(v.getBuilder(), v.getLoc(), mode, i, v.intScalar(0),
                       llvm::ArrayRef<int64_t>(low),
                       llvm::ArrayRef<int64_t>(high));
}

// Every padded place reads one place of the operand: its gradient is added
// there, dimension by dimension.
void mirroredPadVjp(PadOp op, Vjp &v) {
  Value g = v.grad();
  ShapeRef shape = shapeOf(op.getOperand());
  for (size_t d = 0; d < shape.size(); ++d) {
    if (op.getLow()[d] == 0 && op.getHigh()[d] == 0)
      continue;
    Value positions = sourcePositions(v, op.getMode(), op.getLow()[d],
                                      op.getHigh()[d], shape[d]);
    Shape next(shapeOf(g));
    next[d] = shape[d];
    g = v.indexAdd(next, static_cast<int64_t>(d), positions, g);
  }
  v.set(0, g);
}

void padVjp(PadOp op, Vjp &v) {
  op.getMode() == PadMode::constant ? constantPadVjp(op, v)
                                    : mirroredPadVjp(op, v);
}

void concatVjp(ConcatOp op, Vjp &v) {
  int64_t start = 0;
  auto dim = static_cast<int64_t>(op.getDim());
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    int64_t size = shapeOf(input)[dim];
    if (v.needs(i))
      v.set(i, v.slice(v.grad(), dim, start, start + size));
    start += size;
  }
}

} // namespace

void registerShapeDerivatives(MLIRContext &context) {
  derive<reshapeVjp>(context);
  derive<transposeVjp>(context);
  derive<broadcastVjp>(context);
  derive<sliceVjp>(context);
  derive<reverseVjp>(context);
  derive<padVjp>(context);
  derive<concatVjp>(context);
}

} // namespace pipec::pipe
