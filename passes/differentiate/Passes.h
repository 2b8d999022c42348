// The differentiate phase: passes and their pipeline. What each pass does is in
// Passes.td.
#ifndef PIPEC_PASSES_DIFFERENTIATE_PASSES_H
#define PIPEC_PASSES_DIFFERENTIATE_PASSES_H

#include "ir/PipeOps.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace pipec::pipe {

#define GEN_PASS_DECL
#include "passes/differentiate/Passes.h.inc"

// Declares registerPipecDifferentiatePasses().
#define GEN_PASS_REGISTRATION
#include "passes/differentiate/Passes.h.inc"

struct LossSpec {
  enum class Kind { CrossEntropy, Mse, Output };
  Kind kind = Kind::Output;
  std::string output; // empty: the graph's only output
  std::string labels = "labels";
  unsigned labelBits = 64; // of the class indices: 32 or 64
  int64_t ignoreIndex = -100;
  double labelSmoothing = 0;
};

/// See pipe-differentiate-attach-loss. Errors are reported at the graph.
mlir::LogicalResult attachLoss(GraphOp graph, const LossSpec &spec);

/// Whether labels would fit the output, too, if its classes were in dimension
/// 1, where PyTorch's cross entropy has them.
bool hasTwoClassDimensions(GraphOp graph, const LossSpec &spec);

/// Number of the graph's result of that name; without one: of the only output.
std::optional<unsigned> lossOutput(GraphOp graph, llvm::StringRef output);

/// Drops all results but `output` (empty: the only one) and moved buffers.
mlir::LogicalResult keepLossOutput(GraphOp graph, llvm::StringRef output);

/// Discardable attribute of a `pipe.weight` that is not trained (unit).
constexpr llvm::StringLiteral kFrozenAttr = "pipe.frozen";

/// Discardable attribute of a `pipe.transfer` of a gradient: which result of
/// its op the value is that it is the gradient of, where there are several.
constexpr llvm::StringLiteral kResultAttr = "pipe.result";

} // namespace pipec::pipe

#endif // PIPEC_PASSES_DIFFERENTIATE_PASSES_H
