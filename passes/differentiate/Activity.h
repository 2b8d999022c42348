// Which values of a cut graph need a gradient.
#ifndef PIPEC_PASSES_DIFFERENTIATE_ACTIVITY_H
#define PIPEC_PASSES_DIFFERENTIATE_ACTIVITY_H

#include "ir/PipeOps.h"

#include "llvm/ADT/DenseSet.h"

namespace pipec::pipe {

/// A value needs a gradient when it is a float and depends, through
/// differentiable ops, on a parameter that is trained. What an op computes from
/// such values without a derivative (comparisons, positions) needs none.
class Activity {
public:
  /// `graph` is cut; VjpInterface is attached to the ops.
  explicit Activity(GraphOp graph);
  /// A value of a stage's body, a stage result or a transfer.
  bool needsGradient(mlir::Value value) const { return active.contains(value); }

private:
  void visit(StageOp stage, const mlir::SymbolTable &weights);
  llvm::DenseSet<mlir::Value> active;
};

} // namespace pipec::pipe

#endif // PIPEC_PASSES_DIFFERENTIATE_ACTIVITY_H
