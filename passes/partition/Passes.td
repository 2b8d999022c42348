// The passes of the partition phase.
#ifndef PIPEC_PASSES_PARTITION_PASSES_TD
#define PIPEC_PASSES_PARTITION_PASSES_TD

include "mlir/Pass/PassBase.td"

def PartitionAnnotate : Pass<"pipe-partition-annotate", "::mlir::ModuleOp"> {
  let summary = "assigns every tensor op of the graph to a stage";
  let description = [{
    **Does.** Sets `pipe.stage_index` on every tensor op but constants, weight
    references and iotas. The cuts come from split points (`splits`), from explicit node positions (`positions`), or,
    with neither, from an automatic cut into `stages` stages balanced by estimated time.

    ```mlir
    // pipec-opt --pipe-partition-annotate=splits=a:END
    pipe.graph @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = pipe.relu %x : (tensor<4xf32>) -> tensor<4xf32> loc(fused<#pipe.origin<0, "Relu", "r", "a">>["m.onnx"])
      %1 = pipe.tanh %0 : (tensor<4xf32>) -> tensor<4xf32> loc(fused<#pipe.origin<1, "Tanh", "t", "b">>["m.onnx"])
      pipe.output %1 : tensor<4xf32>
    }
    // becomes
    pipe.graph @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = pipe.relu %x {pipe.stage_index = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
      %1 = pipe.tanh %0 {pipe.stage_index = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
      pipe.output %1 : tensor<4xf32>
    }
    ```

    **Requires.** The import phase is done (PIPE-I3, PIPE-I4).

    **Guarantees.** Stages are numbered from 0 without gaps; each has a tensor op; no op reads from a later stage.

    **Fails when.** A split point is malformed, names an unknown path (the closest are given), or leaves a stage
    empty; the graph has fewer ops than stages. Ops that every stage which reads them makes itself fill no stage.

    **Options.** `splits`: split points; `positions`: node positions to cut before; `stages`: how many stages, 1 without it. `splits` and `positions` exclude `stages`.
  }];
  let options = [
    ListOption<"splits", "splits", "std::string", "split points, PATH:BEGIN or PATH:END; PATH may hold * within a component">,
    ListOption<"positions", "positions", "int64_t", "cut before these positions of the walk that imported the graph">,
    Option<"stages", "stages", "int64_t", "1", "number of stages of the automatic cut, 1 or more">,
  ];
  let dependentDialects = ["::pipec::pipe::PipeDialect"];
}

def PartitionOutline : Pass<"pipe-partition-outline", "::mlir::ModuleOp"> {
  let summary = "moves the ops of each stage into a pipe.stage and joins stages by pipe.transfer";
  let description = [{
    **Does.** Makes one `pipe.stage` a stage index. A value read in a later stage
    goes there by one `pipe.transfer`, straight from its producer. Constants, weight references, iotas,
    and cheap chains that depend only on constants and integer or boolean graph inputs (masks, position
    tables) are repeated in the stage that reads them, unless a stage holds nothing else. Graph inputs are handed to every stage that reads them.

    ```mlir
    // pipec-opt --pipe-partition-outline
    pipe.graph @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = pipe.relu %x {pipe.stage_index = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
      %1 = pipe.tanh %0 {pipe.stage_index = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
      pipe.output %1 : tensor<4xf32>
    }
    // becomes
    pipe.graph @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = pipe.stage 0 (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
        %3 = pipe.relu %a : (tensor<4xf32>) -> tensor<4xf32>
        pipe.yield %3 : tensor<4xf32>
      }
      %1 = pipe.transfer %0 from 0 to 1 : tensor<4xf32>
      %2 = pipe.stage 1 (%b = %1 : tensor<4xf32>) -> tensor<4xf32> {
        %3 = pipe.tanh %b : (tensor<4xf32>) -> tensor<4xf32>
        pipe.yield %3 : tensor<4xf32>
      }
      pipe.output %2 : tensor<4xf32>
    }
    ```

    **Requires.** `pipe-partition-annotate`.

    **Guarantees.** PIPE-I7; the graph holds stages, transfers and its output alone; every op keeps its location; stages compute the
    same ops on the same values as the uncut graph, so the same bits.

    **Fails when.** An op has no stage index, indices have gaps, data would flow to an earlier stage (the op and the value's producer are named),
    or a stage would hold no op.

    **Options.** None.
  }];
  let dependentDialects = ["::pipec::pipe::PipeDialect"];
}

def PartitionFindBatchMixes : Pass<"pipe-partition-find-batch-mixes", "::mlir::ModuleOp"> {
  let summary = "remarks on ops that mix the rows of the batch";
  let description = [{
    **Does.** Follows the batch dimension (dimension 0 of each graph input without `pipe.whole`) through the graph and emits a remark at each op
    that mixes the rows and reaches an output by it: reductions, softmax, running sums, contractions, statistics of norms,
    sorting and reversal over the batch, and products that pair every row with every other. Changes nothing. The driver asks the same of
    passes/partition/BatchCoupling.h and prints a warning.

    ```mlir
    // pipec-opt --pipe-partition-find-batch-mixes
    pipe.graph @main(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
      %0 = pipe.reduce mean %x dims [0] keep : (tensor<4x3xf32>) -> tensor<1x3xf32> // remark: over the batch
      %1 = pipe.sub %x, %0 : (tensor<4x3xf32>, tensor<1x3xf32>) -> tensor<4x3xf32>
      pipe.output %1 : tensor<4x3xf32>
    }
    ```

    **Requires.** The import phase is done; the graph is not cut. A microbatch of 2 rows or more: with one, reductions over the batch are folded away.

    **Guarantees.** No op is named whose mixing an output's join makes good (the sum of a loss), or that only counts, positions and masks depend on.
    Silence is no proof: where the rows are no longer followed (a gather of rows, a reshape that takes them apart), nothing is said of what comes behind.

    **Fails when.** `join` is none of its words.

    **Options.** `join`: how outputs join whose first dimension is not the batch: `none`, `sum` or `mean`.
  }];
  let options = [
    Option<"join", "join", "std::string", "\"none\"", "how outputs join whose first dimension is not the batch: none, sum or mean">,
  ];
  let dependentDialects = ["::pipec::pipe::PipeDialect"];
}

def PartitionVerify : Pass<"pipe-partition-verify", "::mlir::ModuleOp"> {
  let summary = "gate: the graph is cut and every transfer is right";
  let description = [{
    **Does.** Checks, and changes nothing.

    ```mlir
    // pipec-opt --pipe-partition-verify
    pipe.graph @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = pipe.stage 0 (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
        %2 = pipe.relu %a : (tensor<4xf32>) -> tensor<4xf32>
        pipe.yield %2 : tensor<4xf32>
      }
      %1 = pipe.tanh %0 : (tensor<4xf32>) -> tensor<4xf32> // error: outside
      pipe.output %1 : tensor<4xf32>
    }
    ```

    **Requires.** `pipe-partition-outline`.

    **Guarantees.** The graph holds only stages in order, transfers and its output; every transfer is read, by
    stages alone, and no value goes twice to one stage (PIPE-I7; the verifiers of the ops check that a
    transfer's ends are the stages it names).

    **Fails when.** One of these does not hold; the message names the op and the rule.

    **Options.** None.
  }];
}

#endif
