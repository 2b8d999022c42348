// Slices of a combined body, cloned into stages: see PhaseBuilder.h.
// Tests: test/passes/differentiate/*.mlir.
#include "passes/differentiate/PhaseBuilder.h"

#include "passes/partition/GraphOps.h"

using namespace mlir;

namespace pipec::pipe {

bool isMadeAgain(Value value) {
  Operation *op = value.getDefiningOp();
  return op && isPlaceless(op);
}

llvm::SetVector<Operation *>
backwardSlice(llvm::ArrayRef<Value> roots,
              llvm::function_ref<bool(Operation *)> isCandidate) {
  llvm::SetVector<Operation *> slice;
  llvm::SmallVector<Value> pending(roots);
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op || !isCandidate(op) || !slice.insert(op))
      continue;
    llvm::append_range(pending, op->getOperands());
  }
  return slice;
}

StageOp buildPhase(OpBuilder &builder, StageOp forward,
                   const PhaseContents &contents,
                   llvm::function_ref<Value(Value)> operandOf) {
  llvm::SmallVector<Value> operands, results;
  llvm::SmallVector<Type> resultTypes;
  for (Value input : contents.inputs)
    operands.push_back(operandOf(input));
  for (Value output : contents.outputs)
    resultTypes.push_back(output.getType());
  auto stage = StageOp::create(builder, forward.getLoc(), resultTypes,
                               forward.getIndex(), contents.phase, operands);
  Block *block = &stage.getBody().emplaceBlock();
  IRMapping mapping;
  for (Value input : contents.inputs)
    mapping.map(input, block->addArgument(input.getType(), input.getLoc()));
  OpBuilder inner = OpBuilder::atBlockEnd(block);
  auto available = [&](Value value) {
    if (!mapping.contains(value) && isMadeAgain(value))
      inner.clone(*value.getDefiningOp(), mapping);
  };
  llvm::SmallVector<Operation *> ops(contents.ops.begin(), contents.ops.end());
  llvm::sort(ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : ops) {
    for (Value operand : op->getOperands())
      available(operand);
    if (op->getNumResults() == 0 || !mapping.contains(op->getResult(0)))
      inner.clone(*op, mapping);
  }
  for (Value output : contents.outputs) {
    available(output);
    results.push_back(mapping.lookup(output));
  }
  YieldOp::create(inner, forward.getLoc(), results);
  return stage;
}

} // namespace pipec::pipe
