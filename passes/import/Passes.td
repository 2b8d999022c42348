// Passes of the import phase. They run on the module, because a folded constant
// may need a `pipe.weight` declaration beside the graph.
#ifndef PIPEC_PASSES_IMPORT_PASSES_TD
#define PIPEC_PASSES_IMPORT_PASSES_TD

include "mlir/Pass/PassBase.td"

class Pipe_ImportPass<string name> : Pass<name, "::mlir::ModuleOp"> {
  let dependentDialects = ["::pipec::pipe::PipeDialect"];
}

def DropDropout : Pipe_ImportPass<"pipe-import-drop-dropout"> {
  let summary = "Replaces dropout by its operand";
  let description = [{
    **Does.** Inference keeps every element, so a `pipe.dropout` is its operand.

    ```mlir
    // pipec-opt --pipe-import-drop-dropout
    pipe.graph @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = pipe.dropout %x ratio 1.000000e-01 : (tensor<4xf32>) -> tensor<4xf32>
      %1 = pipe.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
      pipe.output %1 : tensor<4xf32>
    }
    // becomes
    pipe.graph @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = pipe.relu %x : (tensor<4xf32>) -> tensor<4xf32>
      pipe.output %0 : tensor<4xf32>
    }
    ```

    **Requires.** Nothing.

    **Guarantees.** No `pipe.dropout` is left.

    **Fails when.** Never.

    **Options.** None.
  }];
}

def SeedDropout : Pipe_ImportPass<"pipe-import-seed-dropout"> {
  let summary = "Gives every dropout its random numbers";
  let description = [{
    **Does.** Adds a graph input `random_key` (seed, step, microbatch; its `pipe.role` tells the runtime to feed it)
    and hands it to every `pipe.dropout`, with the node's position in the walk that imported the graph as its stream.

    ```mlir
    // pipec-opt --pipe-import-seed-dropout
    pipe.graph @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = pipe.dropout %x ratio 1.000000e-01 : (tensor<4xf32>) -> tensor<4xf32> loc(fused<#pipe.origin<7, "Dropout", "d", "drop">>["m.onnx"])
      pipe.output %0 : tensor<4xf32>
    }
    // becomes
    pipe.graph @main(%x: tensor<4xf32>, %key: tensor<3xi64> {pipe.name = "random_key", pipe.role = "random_key", pipe.whole}) -> tensor<4xf32> {
      %0 = pipe.dropout %x key %key ratio 1.000000e-01 {stream = 7 : i64} : (tensor<4xf32>, tensor<3xi64>) -> tensor<4xf32>
      pipe.output %0 : tensor<4xf32>
    }
    ```

    **Requires.** Nothing.

    **Guarantees.** Every dropout has a key; no two have one stream. Streams do not depend on the cut or the microbatch's size.

    **Fails when.** Never.

    **Options.** None.
  }];
}

def BatchNormTraining : Pipe_ImportPass<"pipe-import-batch-norm-training"> {
  let summary = "Puts batch normalisation in training mode";
  let description = [{
    **Does.** Takes each `pipe.batch_norm` apart into core ops that normalise with the microbatch's own statistics. The moved statistics become
    graph results that carry `pipe.buffer`: new = momentum * old + (1 - momentum) * batch's, with the unbiased variance, or the
    population's where the op says so. Instance normalisation with running statistics is a batch_norm whose channels are all images'
    and whose statistics are buffers repeated for each: those move by the mean over the images.

    ```mlir
    // pipec-opt --pipe-import-batch-norm-training --pipe-import-fold-identities --pipe-import-remove-dead
    pipe.weight @mean buffer : tensor<3xf32> from <"m.onnx", 0, 12>
    pipe.weight @variance buffer : tensor<3xf32> from <"m.onnx", 12, 12>
    pipe.graph @main(%x: tensor<2x3xf32>, %c: tensor<3xf32>) -> tensor<2x3xf32> {
      %m = pipe.load_weight @mean : tensor<3xf32>
      %v = pipe.load_weight @variance : tensor<3xf32>
      %0 = pipe.batch_norm %x scale %c bias %c mean %m variance %v epsilon 1.250000e-01 {momentum = 7.500000e-01 : f64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
      pipe.output %0 : tensor<2x3xf32>
    }
    // becomes
    pipe.weight @mean buffer : tensor<3xf32> from <"m.onnx", 0, 12>
    pipe.weight @variance buffer : tensor<3xf32> from <"m.onnx", 12, 12>
    pipe.graph @main(%x: tensor<2x3xf32>, %c: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32> {pipe.buffer = "mean", pipe.name = "mean:new"}, tensor<3xf32> {pipe.buffer = "variance", pipe.name = "variance:new"}) {
      %0 = pipe.load_weight @mean : tensor<3xf32>
      %1 = pipe.load_weight @variance : tensor<3xf32>
      %2 = pipe.reduce mean %x dims [0] : (tensor<2x3xf32>) -> tensor<3xf32>
      %3 = pipe.sub %x, %2 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
      %4 = pipe.mul %3, %3 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      %5 = pipe.reduce mean %4 dims [0] : (tensor<2x3xf32>) -> tensor<3xf32>
      %6 = pipe.constant dense<1.250000e-01> : tensor<f32>
      %7 = pipe.add %5, %6 : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
      %8 = pipe.rsqrt %7 : (tensor<3xf32>) -> tensor<3xf32>
      %9 = pipe.mul %3, %8 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
      %10 = pipe.mul %9, %c : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
      %11 = pipe.add %10, %c : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
      %12 = pipe.constant dense<7.500000e-01> : tensor<f32>
      %13 = pipe.mul %0, %12 : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
      %14 = pipe.constant dense<2.500000e-01> : tensor<f32>
      %15 = pipe.mul %2, %14 : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
      %16 = pipe.add %13, %15 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %17 = pipe.constant dense<2.000000e+00> : tensor<f32>
      %18 = pipe.mul %5, %17 : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
      %19 = pipe.constant dense<7.500000e-01> : tensor<f32>
      %20 = pipe.mul %1, %19 : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
      %21 = pipe.constant dense<2.500000e-01> : tensor<f32>
      %22 = pipe.mul %18, %21 : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
      %23 = pipe.add %20, %22 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      pipe.output %11, %16, %23 : tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>
    }
    ```

    **Requires.** Nothing.

    **Guarantees.** No `pipe.batch_norm` is left. A buffer that several ops move is moved in their order.

    **Fails when.** An op gets one value per channel. Statistics that are no buffers are left as they are.

    **Options.** `rows`: the microbatch's, for the message; 0 says nothing of them.
  }];
  let options = [Option<"rows", "rows", "int64_t", "0", "rows of the microbatch, for messages">];
  let statistics = [Statistic<"expanded", "expanded", "Ops put in training mode">];
}

def FlattenRoots : Pipe_ImportPass<"pipe-import-flatten-roots"> {
  let summary = "Gives norms a gradient of 0 at 0";
  let description = [{
    **Does.** Sets `flat_at_zero` on each `pipe.sqrt`, and each `pipe.pow` by a number between 0 and 1, whose operand is a sum or
    mean of powers, but for shape and constant factors: 2-norms, p-norms, distances and standard deviations, as exporters
    compose them. A root's derivative at 0 is infinite, and 0 times that is NaN; PyTorch's norms have the gradient 0 there.
    A root that a user wrote by hand over such a sum is the same graph, so it has 0 as well, where PyTorch has NaN.

    ```mlir
    // pipec-opt --pipe-import-flatten-roots
    pipe.graph @main(%x: tensor<4xf32>) -> tensor<f32> {
      %0 = pipe.mul %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %1 = pipe.reduce sum %0 dims [0] : (tensor<4xf32>) -> tensor<f32>
      %2 = pipe.sqrt %1 : (tensor<f32>) -> tensor<f32>
      pipe.output %2 : tensor<f32>
    }
    // becomes
    pipe.graph @main(%x: tensor<4xf32>) -> tensor<f32> {
      %0 = pipe.mul %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %1 = pipe.reduce sum %0 dims [0] : (tensor<4xf32>) -> tensor<f32>
      %2 = pipe.sqrt %1 {flat_at_zero} : (tensor<f32>) -> tensor<f32>
      pipe.output %2 : tensor<f32>
    }
    ```

    **Requires.** Constants are folded. No stages: a stage would hide what a root is of.

    **Guarantees.** No value changes.

    **Fails when.** Never.

    **Options.** None.
  }];
  let statistics = [Statistic<"flattened", "flattened", "Roots whose derivative at 0 is 0">];
}

def FoldIdentities : Pipe_ImportPass<"pipe-import-fold-identities"> {
  let summary = "Removes ops that change nothing";
  let description = [{
    **Does.** Calls each op's folder, in the order of the graph: a reshape to the same
    shape, a transpose of a transpose, a convert to the same type and their like give
    way to the value that they restate. One sweep is enough, because folders look at
    producers only. No bit of a result changes. What nothing reads any more, as the first negation here, goes with `pipe-import-remove-dead`.

    ```mlir
    // pipec-opt --pipe-import-fold-identities
    pipe.graph @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = pipe.neg %x : (tensor<4xf32>) -> tensor<4xf32>
      %1 = pipe.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
      pipe.output %1 : tensor<4xf32>
    }
    // becomes
    pipe.graph @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = pipe.neg %x : (tensor<4xf32>) -> tensor<4xf32>
      pipe.output %x : tensor<4xf32>
    }
    ```

    **Requires.** Nothing.

    **Guarantees.** No op with a folder that applies is left. Ops keep their order (PIPE-I3).

    **Fails when.** Never.

    **Options.** None.
  }];
  let statistics = [Statistic<"folded", "folded", "Ops that gave way to a value">];
}

def FoldConstants : Pipe_ImportPass<"pipe-import-fold-constants"> {
  let summary = "Computes at compile time what depends on constants alone";
  let description = [{
    **Does.** Runs ops whose operands are all constants with the reference kernels.
    Constants are `pipe.constant`, and `pipe.weight` of kind `constant` in the pool;
    parameters and buffers never count, training changes them. Of a chain of folded ops
    only the values that other ops read are kept: as a `pipe.constant` where the value is
    small or a splat, else as a pool constant and its `pipe.load_weight`. A constant stands
    in the place of the op that it replaces and has its location.

    ```mlir
    // pipec-opt --pipe-import-fold-constants --pipe-import-remove-dead
    pipe.graph @main() -> tensor<4xi64> {
      %0 = pipe.iota dim 0 : tensor<4xi64>
      %1 = pipe.constant dense<2> : tensor<i64>
      %2 = pipe.mul %0, %1 : (tensor<4xi64>, tensor<i64>) -> tensor<4xi64>
      pipe.output %2 : tensor<4xi64>
    }
    // becomes
    pipe.graph @main() -> tensor<4xi64> {
      %0 = pipe.constant dense<[0, 2, 4, 6]> : tensor<4xi64>
      pipe.output %0 : tensor<4xi64>
    }
    ```

    **Requires.** Nothing.

    **Guarantees.** No op is left whose operands are all constants and whose results fit
    `max-bytes` (and whose operands fit 64 times, whose flops 256 times that number),
    unless its kernel reports an error; such an op (an index out of range,
    say) stays, and fails when the model runs.

    **Fails when.** Never.

    **Options.** `max-bytes`: the most bytes that the results of one op may have; larger
    ones are cheaper to compute than to store. Default 1 MiB.
  }];
  let options = [Option<"maxBytes", "max-bytes", "uint64_t", "1 << 20",
    "Most bytes that the results of a folded op may have">];
  let statistics = [Statistic<"folded", "folded", "Ops computed at compile time">];
}

def RemoveDead : Pipe_ImportPass<"pipe-import-remove-dead"> {
  let summary = "Removes ops and constants that nothing reads";
  let description = [{
    **Does.** Erases ops of a graph whose results have no use, last first, so that
    whole dead chains go in one sweep; then declarations of weights of kind `constant` that no
    `pipe.load_weight` names. Parameters and buffers stay: checkpoints hold them.

    ```mlir
    // pipec-opt --pipe-import-remove-dead
    pipe.weight @c constant : tensor<2xf32> from <"m.onnx", 0, 8>
    pipe.graph @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = pipe.load_weight @c : tensor<2xf32>
      pipe.output %x : tensor<2xf32>
    }
    // becomes
    pipe.graph @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      pipe.output %x : tensor<2xf32>
    }
    ```

    **Requires.** Nothing.

    **Guarantees.** Every result but a stage's has a use, and every constant weight is loaded.

    **Fails when.** Never.

    **Options.** None.
  }];
}

def VerifyCore : Pipe_ImportPass<"pipe-import-verify-core"> {
  let summary = "Gate: the module is what partitioning expects";
  let description = [{
    **Does.** Checks, and changes nothing.

    ```mlir
    // pipec-opt --pipe-import-verify-core
    pipe.graph @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = pipe.relu %x : (tensor<4xf32>) -> tensor<4xf32> loc(fused<#pipe.origin<0, "Relu", "node_relu", "act">>["model.py":3:0])
      %1 = pipe.tanh %0 : (tensor<4xf32>) -> tensor<4xf32> // error: has no origin
      pipe.output %1 : tensor<4xf32>
    }
    ```

    **Requires.** Nothing.

    **Guarantees.** The module holds one `pipe.graph` and `pipe.weight` declarations, nothing
    else. The graph holds tensor ops of the dialect, `pipe.constant`, `pipe.load_weight` and `pipe.output`,
    no `pipe.dropout`, no stages; shapes are static (PIPE-I1, by the verifiers), and
    tensor ops carry a `#pipe.origin` (PIPE-I4).

    **Fails when.** One of these does not hold: "is not expected ..." at the op that breaks
    it, "has no origin" at a tensor op without one, "expected one 'pipe.graph'" at the module.

    **Options.** `require-origin`: whether tensor ops must carry an origin. Default true;
    false serves tests written by hand.
  }];
  let options = [Option<"requireOrigin", "require-origin", "bool", "true",
    "Whether every tensor op must carry a #pipe.origin">];
}

#endif
