// Passes of the differentiate phase.
#ifndef PIPEC_PASSES_DIFFERENTIATE_PASSES_TD
#define PIPEC_PASSES_DIFFERENTIATE_PASSES_TD

include "mlir/Pass/PassBase.td"

class Pipe_DifferentiatePass<string name> : Pass<name, "::mlir::ModuleOp"> {
  let dependentDialects = ["::pipec::pipe::PipeDialect"];
}

def Differentiate : Pipe_DifferentiatePass<"pipe-differentiate"> {
  let summary = "adds to each stage the programs that make its gradients";
  let description = [{
    **Does.** For each stage, from the last to the first, applies the derivatives of its ops in reverse. What the gradients
    of its inputs need becomes `pipe.stage s backward_input`, what only those of its parameters need `pipe.stage s backward_weight`
    (decision 3). Forward values that they read become residuals: results of the forward stage. Gradients go to
    earlier stages by `pipe.transfer .. gradient`, as one running sum a value (PIPE-I7). Each use of a parameter ends in a `pipe.gradient`.

    ```mlir
    // pipec-opt --pipe-differentiate
    pipe.weight @w parameter : tensor<4xf32> from <"m.onnx", 0, 16>
    pipe.graph @main(%x: tensor<4xf32>) -> tensor<f32> {
      %0 = pipe.stage 0 (%a = %x : tensor<4xf32>) -> tensor<f32> {
        %w = pipe.load_weight @w : tensor<4xf32>
        %1 = pipe.exp %w : (tensor<4xf32>) -> tensor<4xf32>
        %2 = pipe.mul %1, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        %3 = pipe.reduce sum %2 dims [0] : (tensor<4xf32>) -> tensor<f32>
        pipe.yield %3 : tensor<f32>
      }
      pipe.output %0 : tensor<f32>
    }
    // becomes
    pipe.weight @w parameter : tensor<4xf32> from <"m.onnx", 0, 16>
    pipe.graph @main(%x: tensor<4xf32>) -> tensor<f32> {
      %0:2 = pipe.stage 0 (%a = %x : tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
        %2 = pipe.load_weight @w : tensor<4xf32>
        %3 = pipe.exp %2 : (tensor<4xf32>) -> tensor<4xf32>
        %4 = pipe.mul %3, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        %5 = pipe.reduce sum %4 dims [0] : (tensor<4xf32>) -> tensor<f32>
        pipe.yield %5, %3 : tensor<f32>, tensor<4xf32>
      }
      %1 = pipe.stage 0 backward_weight (%r = %0#1 : tensor<4xf32>, %a = %x : tensor<4xf32>) -> tensor<4xf32> {
        %2 = pipe.constant dense<1.000000e+00> : tensor<f32>
        %3 = pipe.reshape %2 to [1] : (tensor<f32>) -> tensor<1xf32>
        %4 = pipe.broadcast %3 to [4] : (tensor<1xf32>) -> tensor<4xf32>
        %5 = pipe.chain mul %4, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        %6 = pipe.chain mul %5, %r : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        pipe.yield %6 : tensor<4xf32>
      }
      pipe.gradient %1 of @w site 0 : tensor<4xf32>
      pipe.output %0#0 : tensor<f32>
    }
    ```

    **Requires.** The partition phase is done; result 0 of the graph is the scalar loss. Parameters that are not to be trained carry `pipe.frozen`.

    **Guarantees.** Nothing is computed upstream of the first trainable parameter, and no gradient is made for integers, booleans or values
    that need none. A value's gradient is summed over its uses in reverse op order, so the sums do not depend on the cut (decision 6).
    Forward stages compute what they did.

    **Fails when.** The graph is not cut; the loss is no scalar or depends on no trainable parameter; an op on the way has no derivative for its attributes. All such ops are named.

    **Options.** `recompute`: `none` keeps residuals, `full` computes the forward of a stage again from its inputs; with `stages`, of these alone.
  }];
  let options = [
    Option<"recompute", "recompute", "std::string", "\"none\"", "none or full">,
    ListOption<"stages", "stages", "int64_t", "stages that recompute; none given: all of them">,
  ];
}

def AttachLoss : Pipe_DifferentiatePass<"pipe-differentiate-attach-loss"> {
  let summary = "appends the loss to a graph, as its only result beside buffers";
  let description = [{
    **Does.** Appends the ops of a loss behind the last op of the graph, and the inputs that it reads: labels (an input of the model where it has
    one of that name) and `loss_scale`, a scalar that the runtime feeds: 1 / (elements or labels that count in the whole batch) for a mean,
    1 for a sum, so that the sum over microbatches is the whole batch's loss (decision 8). Other results than moved buffers are dropped.

    ```mlir
    // pipec-opt --pipe-differentiate-attach-loss=loss=cross_entropy
    pipe.graph @main(%x: tensor<8x10xf32>) -> (tensor<8x10xf32> {pipe.name = "logits"}) {
      %0 = pipe.relu %x : (tensor<8x10xf32>) -> tensor<8x10xf32>
      pipe.output %0 : tensor<8x10xf32>
    }
    // becomes
    pipe.graph @main(%x: tensor<8x10xf32>, %labels: tensor<8xi64> {pipe.name = "labels", pipe.role = "labels"}, %scale: tensor<f32> {pipe.name = "loss_scale", pipe.role = "loss_scale", pipe.whole}) -> (tensor<f32> {pipe.name = "loss"}) {
      %0 = pipe.relu %x : (tensor<8x10xf32>) -> tensor<8x10xf32>
      %1 = pipe.cross_entropy %0, %labels ignore -100 smoothing 0.000000e+00 : (tensor<8x10xf32>, tensor<8xi64>) -> tensor<f32>
      %2 = pipe.mul %1, %scale : (tensor<f32>, tensor<f32>) -> tensor<f32>
      pipe.output %2 : tensor<f32>
    }
    ```

    **Requires.** The import phase, for training.

    **Guarantees.** Result 0 is the loss, a scalar of f32 or f64.

    **Fails when.** There is no such output, or it cannot have that loss; the outputs there are are listed.

    **Options.** `loss`: `cross_entropy`, `mse`, or `output` for a loss of the model's own. `output`: the model's name of the output that it is of; without it, the only one.
    `labels`: the name of the labels. `ignore-index`: the label that does not count, -100 without it. `label-smoothing`: from 0 to 1.
  }];
  let options = [
    Option<"kind", "loss", "std::string", "\"output\"", "cross_entropy, mse or output">,
    Option<"output", "output", "std::string", "\"\"", "the model's output; empty: its only one">,
    Option<"labels", "labels", "std::string", "\"labels\"", "name of the labels">,
    Option<"ignoreIndex", "ignore-index", "int64_t", "-100", "label that does not count">,
    Option<"labelSmoothing", "label-smoothing", "double", "0.0", "from 0 to 1">,
  ];
}

#endif
