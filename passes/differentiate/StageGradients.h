// Reverse accumulation over one stage's ops.
#ifndef PIPEC_PASSES_DIFFERENTIATE_STAGEGRADIENTS_H
#define PIPEC_PASSES_DIFFERENTIATE_STAGEGRADIENTS_H

#include "passes/differentiate/Activity.h"

#include "llvm/ADT/MapVector.h"

namespace pipec::pipe {

/// What one use of a parameter adds to its gradient.
struct Contribution {
  mlir::FlatSymbolRefAttr weight;
  size_t position = 0; // of the op that reads it, in the forward body
  unsigned operand = 0;
  mlir::Value gradient;
};

/// The gradients of one forward stage. Their ops are built at the end of its
/// body, behind the forward ops, reading the body's values and `incoming`
/// arguments appended to it; splitting them off is the caller's work.
struct StageGradients {
  mlir::Operation *lastForward = nullptr; // null: the body has no ops
  /// Gradients of the stage's arguments; none where nothing was added.
  llvm::MapVector<mlir::Value, mlir::Value> inputs;
  std::vector<Contribution> weights; // in reverse op order
  /// False where an op has no derivative for its attributes; zeros stand in for
  /// its operands' gradients, so that the ops before it are looked at too.
  bool complete = true;
};

/// Builds them. `seeds`: the gradients, so far, of body values (what later
/// stages contributed), arguments of the body. `loss`: the body value whose
/// gradient is 1; may be null. Errors stand at the ops without a derivative.
StageGradients
buildStageGradients(StageOp stage, const Activity &activity,
                    const llvm::MapVector<mlir::Value, mlir::Value> &seeds,
                    mlir::Value loss);

} // namespace pipec::pipe

#endif // PIPEC_PASSES_DIFFERENTIATE_STAGEGRADIENTS_H
