// Forward propagation of "depends on a trained parameter" over all stages.
// Tests: test/passes/differentiate/activity.mlir.
#include "passes/differentiate/Activity.h"

#include "passes/differentiate/Passes.h"
#include "passes/differentiate/Vjp.h"

using namespace mlir;

namespace pipec::pipe {
namespace {

bool isFloatTensor(Value value) { return isa<FloatType>(elementTypeOf(value)); }

bool isTrained(LoadWeightOp load, const SymbolTable &weights) {
  auto weight = weights.lookup<WeightOp>(load.getWeight());
  return weight && weight.getKind() == WeightKind::parameter &&
         !weight->hasAttr(kFrozenAttr) && isFloatTensor(load.getResult());
}

} // namespace

Activity::Activity(GraphOp graph) {
  const SymbolTable weights(graph->getParentOfType<ModuleOp>());
  for (Operation &op : graph.getBody().front()) {
    if (auto stage = dyn_cast<StageOp>(op))
      visit(stage, weights);
    else if (auto transfer = dyn_cast<TransferOp>(op);
             transfer && active.contains(transfer.getValue()))
      active.insert(transfer.getResult());
  }
}

void Activity::visit(StageOp stage, const SymbolTable &weights) {
  Block &body = stage.getBody().front();
  for (auto [argument, input] :
       llvm::zip(body.getArguments(), stage.getInputs()))
    if (active.contains(input))
      active.insert(argument);
  for (Operation &op : body.without_terminator()) {
    bool reached = false;
    if (auto load = dyn_cast<LoadWeightOp>(op))
      reached = isTrained(load, weights);
    else if (isa<VjpInterface>(op))
      reached = llvm::any_of(op.getOperands(), [&](Value operand) {
        return active.contains(operand);
      });
    for (Value result : op.getResults())
      if (reached && isFloatTensor(result))
        active.insert(result);
  }
  for (auto [result, yielded] :
       llvm::zip(stage.getResults(), body.getTerminator()->getOperands()))
    if (active.contains(yielded))
      active.insert(result);
}

} // namespace pipec::pipe
