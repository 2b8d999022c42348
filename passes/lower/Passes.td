// The passes of the lower phase.
#ifndef PIPEC_PASSES_LOWER_PASSES_TD
#define PIPEC_PASSES_LOWER_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerPlanMemory : Pass<"pipe-lower-plan-memory", "::mlir::ModuleOp"> {
  let summary = "gives every value of a stage its place in the stage's arena";
  let description = [{
    Does: sets `pipe.arena_offsets` (one offset in bytes per result) on every op
    of a `pipe.stage` that computes, and `pipe.arena_bytes` on the stage. Values whose lifetimes overlap never share
    bytes; the result of a reshape lies where its operand lies, when that is in the arena. Larger values are placed first, each at the lowest free place.

    ```mlir
    %1 = pipe.relu %a {pipe.arena_offsets = array<i64: 0>} : (tensor<16xf32>) -> tensor<16xf32>
    %2 = pipe.tanh %1 {pipe.arena_offsets = array<i64: 64>} : (tensor<16xf32>) -> tensor<16xf32>
    ```

    Requires: the partition phase is done.

    Guarantees: offsets are multiples of 64; what a stage yields stays until its end; a running step allocates nothing.

    Fails when: never.

    Options: none.
  }];
}

#endif
