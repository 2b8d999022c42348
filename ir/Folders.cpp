// Folding of ops that leave their operand as it is, and of pairs that undo
// each other. Nothing here changes a bit of a result (decision 6): x + 0 and
// x * 1 fold for integers only. Constants are folded by
// `pipe-import-fold-constants`, with the reference kernels.
// Tests: test/ir/*-fold.mlir.
#include "ir/PipeOps.h"
#include "ir/ShapeInference.h"

#include "mlir/IR/Matchers.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace pipec::pipe;

// ---- unary

// f(f(x)) = x.
template <typename Op> static OpFoldResult foldInvolution(Op op) {
  if (auto inner = op.getOperand().template getDefiningOp<Op>())
    return inner.getOperand();
  return {};
}
// f(f(x)) = f(x).
template <typename Op> static OpFoldResult foldIdempotent(Op op) {
  if (op.getOperand().template getDefiningOp<Op>())
    return op.getOperand();
  return {};
}

OpFoldResult NegOp::fold(FoldAdaptor) { return foldInvolution(*this); }
OpFoldResult NotOp::fold(FoldAdaptor) { return foldInvolution(*this); }
OpFoldResult BitwiseNotOp::fold(FoldAdaptor) { return foldInvolution(*this); }
OpFoldResult AbsOp::fold(FoldAdaptor) { return foldIdempotent(*this); }
OpFoldResult SignOp::fold(FoldAdaptor) { return foldIdempotent(*this); }
OpFoldResult ReluOp::fold(FoldAdaptor) { return foldIdempotent(*this); }
OpFoldResult FloorOp::fold(FoldAdaptor) { return foldIdempotent(*this); }
OpFoldResult CeilOp::fold(FoldAdaptor) { return foldIdempotent(*this); }
OpFoldResult RoundOp::fold(FoldAdaptor) { return foldIdempotent(*this); }

OpFoldResult ConvertOp::fold(FoldAdaptor) {
  return getOperand().getType() == getType() ? OpFoldResult(getOperand())
                                             : OpFoldResult();
}

// ---- binary and ternary

// Whether `attr` holds integers (or bools) that all equal `value`, -1 being all
// bits.
static bool isIntegerSplat(Attribute attr, int64_t value) {
  auto dense = dyn_cast_if_present<DenseIntElementsAttr>(attr);
  if (!dense || !dense.isSplat())
    return false;
  llvm::APInt splat = dense.getSplatValue<llvm::APInt>();
  return splat == llvm::APInt(64, value, true).trunc(splat.getBitWidth());
}

// The operand, where the other one is the neutral element and stretches
// nothing.
template <typename Op>
static OpFoldResult foldNeutral(Op op, typename Op::FoldAdaptor adaptor,
                                int64_t neutral, bool onEitherSide) {
  Type type = op.getType();
  if (op.getLhs().getType() == type &&
      isIntegerSplat(adaptor.getRhs(), neutral))
    return op.getLhs();
  if (onEitherSide && op.getRhs().getType() == type &&
      isIntegerSplat(adaptor.getLhs(), neutral))
    return op.getRhs();
  return {};
}
template <typename Op> static OpFoldResult foldEqualOperands(Op op) {
  return op.getLhs() == op.getRhs() ? OpFoldResult(op.getLhs())
                                    : OpFoldResult();
}

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  return foldNeutral(*this, adaptor, 0, true);
}
OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  return foldNeutral(*this, adaptor, 0, false);
}
OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  return foldNeutral(*this, adaptor, 1, true);
}
OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  return foldNeutral(*this, adaptor, 1, false);
}
OpFoldResult MaximumOp::fold(FoldAdaptor) { return foldEqualOperands(*this); }
OpFoldResult MinimumOp::fold(FoldAdaptor) { return foldEqualOperands(*this); }

#define FOLD_LATTICE(OP, NEUTRAL)                                              \
  OpFoldResult OP::fold(FoldAdaptor adaptor) {                                 \
    if (OpFoldResult same = foldEqualOperands(*this))                          \
      return same;                                                             \
    return foldNeutral(*this, adaptor, NEUTRAL, true);                         \
  }
FOLD_LATTICE(AndOp, -1)
FOLD_LATTICE(OrOp, 0)
FOLD_LATTICE(BitwiseAndOp, -1)
FOLD_LATTICE(BitwiseOrOp, 0)

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  Value onTrue = getOnTrue(), onFalse = getOnFalse();
  if (onTrue.getType() == getType() &&
      (onTrue == onFalse || isIntegerSplat(adaptor.getCondition(), -1)))
    return onTrue;
  if (onFalse.getType() == getType() &&
      isIntegerSplat(adaptor.getCondition(), 0))
    return onFalse;
  return {};
}

// ---- reductions

OpFoldResult ReduceOp::fold(FoldAdaptor) {
  return getDims().empty() ? OpFoldResult(getOperand()) : OpFoldResult();
}

// ---- data movement

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

// The operand where types agree; else skips an op of the same kind before this
// one.
template <typename Op> static OpFoldResult foldRestated(Op op) {
  if (op.getOperand().getType() == op.getType())
    return op.getOperand();
  auto inner = op.getOperand().template getDefiningOp<Op>();
  if (!inner)
    return {};
  op.getOperandMutable().assign(inner.getOperand());
  return op.getResult();
}
OpFoldResult ReshapeOp::fold(FoldAdaptor) { return foldRestated(*this); }
OpFoldResult BroadcastOp::fold(FoldAdaptor) { return foldRestated(*this); }

static bool isIdentityPermutation(ShapeRef permutation) {
  for (auto [i, dim] : llvm::enumerate(permutation))
    if (dim != static_cast<int64_t>(i))
      return false;
  return true;
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (isIdentityPermutation(getPermutation()))
    return getOperand();
  auto inner = getOperand().getDefiningOp<TransposeOp>();
  if (!inner)
    return {};
  Shape composed;
  for (int64_t dim : getPermutation())
    composed.push_back(inner.getPermutation()[dim]);
  setPermutation(composed);
  getOperandMutable().assign(inner.getOperand());
  return getResult();
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  bool whole = getOperand().getType() == getType() &&
               llvm::all_of(getStrides(), [](int64_t s) { return s == 1; });
  return whole ? OpFoldResult(getOperand()) : OpFoldResult();
}

OpFoldResult ReverseOp::fold(FoldAdaptor) {
  // Turning round a dimension of at most one element changes nothing.
  ShapeRef shape = getOperand().getType().getShape();
  if (llvm::all_of(getDims(), [&](int64_t dim) { return shape[dim] <= 1; }))
    return getOperand();
  auto inner = getOperand().getDefiningOp<ReverseOp>();
  if (inner && inner.getDims() == getDims())
    return inner.getOperand();
  return {};
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  auto isZero = [](int64_t n) { return n == 0; };
  bool none = llvm::all_of(getLow(), isZero) && llvm::all_of(getHigh(), isZero);
  return none ? OpFoldResult(getOperand()) : OpFoldResult();
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 ? OpFoldResult(getInputs().front())
                                 : OpFoldResult();
}

OpFoldResult ResizeOp::fold(FoldAdaptor) {
  bool same = getOperand().getType() == getType() &&
              llvm::all_of(getScales(), [](double s) { return s == 1; });
  return same ? OpFoldResult(getOperand()) : OpFoldResult();
}
