// pipe-import-fold-constants: runs ops on constants with the reference kernels.
//
// One sweep in order. A folded op's results are held as tensors until their
// last user has been seen, and become IR only where an op that is not folded
// reads them: a chain of folded ops leaves nothing between in the pool.
// In: a module. Out: constants in the place of ops.
// Tests: test/passes/import/fold-constants.mlir,
// test/unit/passes/import/ImportPipelineTest.cpp.
#include "ir/OpDescs.h"
#include "ir/PipelineOps.h"
#include "passes/import/Passes.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir;

namespace pipec::pipe {

#define GEN_PASS_DEF_FOLDCONSTANTS
#include "passes/import/Passes.h.inc"

namespace {

class ConstantFolder {
public:
  /// `weights`: as they are before the first fold.
  ConstantFolder(uint64_t maxBytes, const SymbolTable &weights)
      : maxBytes(maxBytes), weights(weights) {}

  /// Folds the ops of one block and returns how many.
  size_t run(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (!fold(&op))
        materializeOperands(&op);
      releaseOperands(&op);
    }
    for (Operation *op : llvm::reverse(folded))
      op->erase();
    return folded.size();
  }

private:
  struct Known {
    Tensor tensor;
    int64_t usesLeft;
  };

  std::optional<Tensor> lookUp(Value value) {
    if (auto it = known.find(value); it != known.end())
      return it->second.tensor;
    return constantTensor(value.getDefiningOp(), weights);
  }

  bool fold(Operation *op) {
    std::optional<std::vector<Tensor>> results =
        evaluateWith(op, maxBytes, [&](Value value) { return lookUp(value); });
    if (!results)
      return false;
    for (auto [value, tensor] : llvm::zip_equal(op->getResults(), *results)) {
      auto uses = std::distance(value.use_begin(), value.use_end());
      if (uses > 0)
        known.insert({value, {std::move(tensor), uses}});
    }
    folded.push_back(op);
    return true;
  }

  // `op` stays: what it reads of folded ops must be in the IR.
  void materializeOperands(Operation *op) {
    for (OpOperand &operand : op->getOpOperands()) {
      auto it = known.find(operand.get());
      if (it == known.end())
        continue;
      Value &constant = materialized[operand.get()];
      if (!constant) {
        Operation *producer = operand.get().getDefiningOp();
        OpBuilder builder(producer->getContext());
        builder.setInsertionPointAfter(producer);
        constant =
            materializeConstant(builder, producer->getLoc(), it->second.tensor);
      }
      if (--it->second.usesLeft == 0)
        known.erase(it);
      operand.set(constant);
    }
  }

  void releaseOperands(Operation *op) {
    for (Value operand : op->getOperands())
      if (auto it = known.find(operand);
          it != known.end() && --it->second.usesLeft == 0)
        known.erase(it);
  }

  uint64_t maxBytes;
  const SymbolTable &weights;
  llvm::DenseMap<Value, Known> known;
  llvm::DenseMap<Value, Value> materialized;
  SmallVector<Operation *> folded;
};

class FoldConstants : public impl::FoldConstantsBase<FoldConstants> {
public:
  using FoldConstantsBase::FoldConstantsBase;

private:
  void runOnOperation() override {
    const SymbolTable weights(getOperation());
    for (GraphOp graph : getOperation().getOps<GraphOp>())
      folded += ConstantFolder(maxBytes, weights).run(graph.getBody().front());
  }
};

} // namespace
} // namespace pipec::pipe
