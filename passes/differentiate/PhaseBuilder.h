// Moves ops of a stage's body into stages of their own: its backward programs.
#ifndef PIPEC_PASSES_DIFFERENTIATE_PHASEBUILDER_H
#define PIPEC_PASSES_DIFFERENTIATE_PHASEBUILDER_H

#include "ir/PipeOps.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace pipec::pipe {

/// Where a value that a phase reads but does not make comes from.
struct PhaseInput {
  mlir::Value bodyValue; // of the combined body
  mlir::Value operand;   // at graph level
};

/// A phase to be built: which ops of the combined body it holds, in order.
struct PhaseContents {
  StagePhase phase = StagePhase::backward_input;
  llvm::SetVector<mlir::Operation *> ops;
  llvm::SetVector<mlir::Value> inputs;  // body values it reads
  llvm::SetVector<mlir::Value> outputs; // body values that leave it
};

/// Constants, weight references and iotas are made again instead of kept.
bool isMadeAgain(mlir::Value value);

/// The ops among `candidates` that `roots` depend on; cloned ones of
/// isMadeAgain() included.
llvm::SetVector<mlir::Operation *>
backwardSlice(llvm::ArrayRef<mlir::Value> roots,
              llvm::function_ref<bool(mlir::Operation *)> isCandidate);

/// Creates the stage at the builder's place; `operandOf` gives the graph-level
/// value of each input. Results stand in the order of contents.outputs.
StageOp buildPhase(mlir::OpBuilder &builder, StageOp forward,
                   const PhaseContents &contents,
                   llvm::function_ref<mlir::Value(mlir::Value)> operandOf);

} // namespace pipec::pipe

#endif // PIPEC_PASSES_DIFFERENTIATE_PHASEBUILDER_H
