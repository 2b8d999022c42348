// The lower phase: passes, their registration and their pipeline.
#ifndef PIPEC_PASSES_LOWER_PASSES_H
#define PIPEC_PASSES_LOWER_PASSES_H

#include "ir/PipeOps.h"

#include "mlir/Pass/Pass.h"

namespace pipec::pipe {

#define GEN_PASS_DECL
#include "passes/lower/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/lower/Passes.h.inc"

/// DenseI64ArrayAttr: offset in bytes of each result of an op in its stage's
/// arena.
constexpr llvm::StringLiteral kArenaOffsetsAttr = "pipe.arena_offsets";
/// IntegerAttr (i64): bytes of a stage's arena.
constexpr llvm::StringLiteral kArenaBytesAttr = "pipe.arena_bytes";

/// Of stages that are trained, offsets in bytes in the context of a microbatch,
/// -1 for what lies elsewhere: DenseI64ArrayAttr of an op, per result; of a
/// stage, per input.
constexpr llvm::StringLiteral kContextOffsetsAttr = "pipe.context_offsets";
/// IntegerAttr (i64) of every phase of a stage: bytes of a context.
constexpr llvm::StringLiteral kContextBytesAttr = "pipe.context_bytes";
/// IntegerAttr (i64) beside it: the first bytes of a context, which W reads.
constexpr llvm::StringLiteral kContextWeightBytesAttr =
    "pipe.context_weight_bytes";

void buildLowerPipeline(mlir::OpPassManager &manager);

} // namespace pipec::pipe

#endif // PIPEC_PASSES_LOWER_PASSES_H
