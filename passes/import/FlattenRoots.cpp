// pipe-import-flatten-roots: the root of a sum of powers is a norm, whose
// derivative at 0 is 0.
// In: a module to be trained. Out: the same, with `flat_at_zero` on those
// roots. Tests: test/passes/import/flatten-roots.mlir,
// test/conformance/corners.py.
#include "ir/ElementwiseOps.h"
#include "ir/LinearOps.h"
#include "ir/PipelineOps.h"
#include "ir/ReduceOps.h"
#include "ir/ShapeOps.h"
#include "passes/import/Passes.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace pipec::pipe {

#define GEN_PASS_DEF_FLATTENROOTS
#include "passes/import/Passes.h.inc"

namespace {

bool isConstant(Value value) { return matchPattern(value, m_Constant()); }

/// What `value` is but for its shape, its type and factors that are constants.
Value scaledBack(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<ReshapeOp, TransposeOp, BroadcastOp, ConvertOp, PadOp>(op))
      value = op->getOperand(0);
    else if (isa<MulOp, DivOp>(op) && isConstant(op->getOperand(1)))
      value = op->getOperand(0);
    else if (isa<MulOp>(op) && isConstant(op->getOperand(0)))
      value = op->getOperand(1);
    else
      break;
  }
  return value;
}

bool isPower(Value value) {
  Operation *op = scaledBack(value).getDefiningOp();
  if (auto mul = dyn_cast_if_present<MulOp>(op))
    return mul.getLhs() == mul.getRhs();
  if (auto pow = dyn_cast_if_present<PowOp>(op))
    return isConstant(pow.getRhs());
  return isa_and_present<AbsOp>(op);
}

/// A sum or a mean of powers, also over windows.
bool isSumOfPowers(Value value) {
  Operation *op = scaledBack(value).getDefiningOp();
  if (auto reduce = dyn_cast_if_present<ReduceOp>(op))
    return (reduce.getKind() == ReduceKind::sum ||
            reduce.getKind() == ReduceKind::mean) &&
           isPower(reduce.getOperand());
  auto pool = dyn_cast_if_present<AvgPoolOp>(op);
  return pool && isPower(pool.getInput());
}

/// Squared distances by a matrix product, x^2 - 2xy + y^2, cut off at 0
/// (cdist).
bool isSquaredDistance(Value value) {
  auto cut = scaledBack(value).getDefiningOp<MaximumOp>();
  return cut && matchPattern(cut.getRhs(), m_AnyZeroFloat()) &&
         isa_and_present<DotGeneralOp>(
             scaledBack(cut.getLhs()).getDefiningOp());
}

/// Whether all elements of `exponent` are one number between 0 and 1.
bool isRoot(Value exponent) {
  DenseFPElementsAttr elements;
  if (!matchPattern(exponent, m_Constant(&elements)) || !elements.isSplat())
    return false;
  double number = elements.getSplatValue<llvm::APFloat>().convertToDouble();
  return number > 0 && number < 1;
}

class FlattenRoots : public impl::FlattenRootsBase<FlattenRoots> {
  void runOnOperation() override {
    for (GraphOp graph : getOperation().getOps<GraphOp>())
      for (Operation &op : graph.getBody().front()) {
        if (auto root = dyn_cast<SqrtOp>(op);
            root && (isSumOfPowers(root.getOperand()) ||
                     isSquaredDistance(root.getOperand()))) {
          root.setFlatAtZero(true);
          ++flattened;
        } else if (auto root = dyn_cast<PowOp>(op);
                   root && isRoot(root.getRhs()) &&
                   isSumOfPowers(root.getLhs())) {
          root.setFlatAtZero(true);
          ++flattened;
        }
      }
  }
};

} // namespace
} // namespace pipec::pipe
