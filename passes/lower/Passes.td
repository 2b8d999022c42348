// The passes of the lower phase.
#ifndef PIPEC_PASSES_LOWER_PASSES_TD
#define PIPEC_PASSES_LOWER_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerPlanMemory : Pass<"pipe-lower-plan-memory", "::mlir::ModuleOp"> {
  let summary = "gives every value of a stage its place in the stage's arena";
  let description = [{
    **Does.** Sets `pipe.arena_offsets` (one offset in bytes per result) on every op
    of a `pipe.stage` that computes, and `pipe.arena_bytes` on the stage. Values whose lifetimes overlap never share
    bytes; the result of a reshape lies where its operand lies, when that is in the arena. Larger values are placed first, each at the lowest free place.

    ```mlir
    // pipec-opt --pipe-lower-plan-memory
    pipe.graph @main(%x: tensor<16xf32>) -> tensor<16xf32> {
      %0 = pipe.stage 0 (%a = %x : tensor<16xf32>) -> tensor<16xf32> {
        %1 = pipe.relu %a : (tensor<16xf32>) -> tensor<16xf32>
        %2 = pipe.tanh %1 : (tensor<16xf32>) -> tensor<16xf32>
        %3 = pipe.neg %2 : (tensor<16xf32>) -> tensor<16xf32>
        pipe.yield %3 : tensor<16xf32>
      }
      pipe.output %0 : tensor<16xf32>
    }
    // becomes
    pipe.graph @main(%x: tensor<16xf32>) -> tensor<16xf32> {
      %0 = pipe.stage 0 (%a = %x : tensor<16xf32>) -> tensor<16xf32> attributes {pipe.arena_bytes = 128 : i64} {
        %1 = pipe.relu %a {pipe.arena_offsets = array<i64: 0>} : (tensor<16xf32>) -> tensor<16xf32>
        %2 = pipe.tanh %1 {pipe.arena_offsets = array<i64: 64>} : (tensor<16xf32>) -> tensor<16xf32>
        %3 = pipe.neg %2 {pipe.arena_offsets = array<i64: 0>} : (tensor<16xf32>) -> tensor<16xf32>
        pipe.yield %3 : tensor<16xf32>
      }
      pipe.output %0 : tensor<16xf32>
    }
    ```

    In a graph with backward stages, what comes by a transfer and every residual lies in the context of its microbatch instead, which lives from
    the microbatch's forward to its backwards: what W reads lies first, `pipe.context_weight_bytes` long, and lives until W; the rest until B, where
    the stage has a B. `pipe.context_offsets` on stages (per input) and on ops (per result; -1: in the arena), and
    `pipe.context_bytes` with that on every phase of a stage. The phases of a stage share one arena.

    **Requires.** The partition phase is done; to train, the differentiate phase.

    **Guarantees.** Offsets are multiples of 64; what a stage yields stays until its end; values of a context share no bytes but along reshapes; a running step allocates nothing.

    **Fails when.** Never.

    **Options.** None.
  }];
}

#endif
