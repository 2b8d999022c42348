// Composites kept whole while they matter for speed: normalisations, softmax,
// attention, dropout.
#ifndef PIPEC_IR_NORMOPS_TD
#define PIPEC_IR_NORMOPS_TD

include "ir/PipeOpBase.td"

class Pipe_SoftmaxBase<string mnemonic, string what, string text> : Pipe_CostlyOp<mnemonic> {
  let summary = what;
  let description = text # " The result has the operand's type. Each row is computed in f32 (f64 for f64), its sum in f64, and rounded once."
    # "\n\n```mlir\n%r = pipe." # mnemonic # " %x dim 1 : (tensor<2x4xf32>) -> tensor<2x4xf32>\n```\n";
  let arguments = (ins Pipe_FloatTensor:$operand, I64Attr:$dim);
  let results = (outs Pipe_FloatTensor:$result);
  let assemblyFormat = "$operand `dim` $dim attr-dict `:` functional-type(operands, results)";
}
def Pipe_SoftmaxOp : Pipe_SoftmaxBase<"softmax", "e^(x - max) over its sum along one dimension; a row of -inf gives NaN",
    "ATen `softmax`, ONNX Softmax.">;
def Pipe_LogSoftmaxOp : Pipe_SoftmaxBase<"log_softmax", "x - max - log(sum of e^(x - max)) along one dimension",
    "ATen `log_softmax`, ONNX LogSoftmax.">;

def Pipe_LayerNormOp : Pipe_CostlyOp<"layer_norm", [AttrSizedOperandSegments]> {
  let summary = "(x - mean) / sqrt(var + eps) over dimensions axis.. to the last, then scaled and shifted";
  let description = [{
    ATen `layer_norm`, ONNX LayerNormalization. Population variance. `scale` and `bias` (each optional) have the shape of the normalised dimensions and may be of another float type. Means and variances are two passes in f64 (f32 for f16 and bf16); the rest is computed in f32 (f64 for f64) and rounded once.

    ```mlir
    %r = pipe.layer_norm %x scale %w bias %b axis 1 epsilon 1.000000e-05 : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins Pipe_FloatTensor:$operand, Optional<Pipe_FloatTensor>:$scale, Optional<Pipe_FloatTensor>:$bias, I64Attr:$axis, F64Attr:$epsilon);
  let results = (outs Pipe_FloatTensor:$result);
  let assemblyFormat = "$operand (`scale` $scale^)? (`bias` $bias^)? `axis` $axis `epsilon` $epsilon attr-dict `:` functional-type(operands, results)";
}

def Pipe_RmsNormOp : Pipe_CostlyOp<"rms_norm"> {
  let summary = "x / sqrt(mean(x^2) + eps) over dimensions axis.. to the last, then scaled";
  let description = [{
    ATen `rms_norm`, ONNX RMSNormalization. `scale` (optional) has the shape of the normalised dimensions. The mean is taken in f64 (f32 for f16 and bf16); the rest is computed in f32 (f64 for f64) and rounded once.

    ```mlir
    %r = pipe.rms_norm %x scale %w axis 1 epsilon 1.000000e-05 : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins Pipe_FloatTensor:$operand, Optional<Pipe_FloatTensor>:$scale, I64Attr:$axis, F64Attr:$epsilon);
  let results = (outs Pipe_FloatTensor:$result);
  let assemblyFormat = "$operand (`scale` $scale^)? `axis` $axis `epsilon` $epsilon attr-dict `:` functional-type(operands, results)";
}

def Pipe_GroupNormOp : Pipe_CostlyOp<"group_norm", [AttrSizedOperandSegments]> {
  let summary = "normalises each of `groups` groups of channels of N C *, then scales and shifts per channel";
  let description = [{
    ATen `group_norm` and `instance_norm`, ONNX GroupNormalization and InstanceNormalization. As many groups as channels is instance normalisation. Population variance, of each row of N by itself. `scale` and `bias` (each optional)
    have C elements. Means and variances are two passes in f64 (f32 for f16 and bf16); the rest is computed in f32 (f64 for f64) and rounded once.

    ```mlir
    %r = pipe.group_norm %x scale %w bias %b groups 2 epsilon 1.000000e-05 : (tensor<2x4x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x8xf32>
    ```
  }];
  let arguments = (ins Pipe_FloatTensor:$operand, Optional<Pipe_FloatTensor>:$scale, Optional<Pipe_FloatTensor>:$bias, I64Attr:$groups, F64Attr:$epsilon);
  let results = (outs Pipe_FloatTensor:$result);
  let assemblyFormat = "$operand (`scale` $scale^)? (`bias` $bias^)? `groups` $groups `epsilon` $epsilon attr-dict `:` functional-type(operands, results)";
}

def Pipe_BatchNormOp : Pipe_CostlyOp<"batch_norm"> {
  let summary = "batch normalisation of N C * with given statistics (inference form)";
  let description = [{
    ATen `batch_norm` in eval mode, ONNX BatchNormalization. (x - mean) / sqrt(variance + eps) * scale + bias per channel; all four have C elements. It is computed in f32 (f64 for f64) and rounded once.

    `momentum` and `population_variance` say how
    training moves the statistics (`pipe-import-batch-norm-training`): new = momentum * old + (1 - momentum) * batch's, the variance
    being the unbiased one, as in PyTorch, or the population's, as in ONNX.

    ```mlir
    %r = pipe.batch_norm %x scale %w bias %b mean %m variance %v epsilon 1.000000e-05 : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins Pipe_FloatTensor:$operand, Pipe_FloatTensor:$scale, Pipe_FloatTensor:$bias, Pipe_FloatTensor:$mean, Pipe_FloatTensor:$variance, F64Attr:$epsilon,
    DefaultValuedAttr<F64Attr, "0.9">:$momentum, DefaultValuedAttr<BoolAttr, "false">:$population_variance);
  let results = (outs Pipe_FloatTensor:$result);
  let assemblyFormat = "$operand `scale` $scale `bias` $bias `mean` $mean `variance` $variance `epsilon` $epsilon attr-dict `:` functional-type(operands, results)";
}

def Pipe_AttentionOp : Pipe_CostlyOp<"attention"> {
  let summary = "softmax(q k^T * scale + mask) v, per head (scaled_dot_product_attention)";
  let description = [{
    ATen `scaled_dot_product_attention` without dropout, ONNX Attention.
    query [B, H, Q, D], key [B, Hk, K, D], value [B, Hk, K, Dv]; H is a multiple of Hk: head h reads key head h / (H / Hk) (grouped-query attention).
    `mask` broadcasts to [B, H, Q, K]: bool keeps where true, float is added. `causal` also hides key j from query i where j > i + K - Q.
    A row with nothing to attend to gives zeros. Scores and sums run in f32 (f64 for f64); the result is rounded once.

    ```mlir
    %r = pipe.attention %q, %k, %v mask %m scale 1.250000e-01 {causal = true} : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x3xf32>, tensor<5x6xi1>) -> tensor<2x4x5x3xf32>
    ```
  }];
  let arguments = (ins Pipe_FloatTensor:$query, Pipe_FloatTensor:$key, Pipe_FloatTensor:$value, Optional<Pipe_Tensor>:$mask,
    F64Attr:$scale, DefaultValuedAttr<BoolAttr, "false">:$causal);
  let results = (outs Pipe_FloatTensor:$result);
  let assemblyFormat = "$query `,` $key `,` $value (`mask` $mask^)? `scale` $scale attr-dict `:` functional-type(operands, results)";
}

def Pipe_DropoutOp : Pipe_TensorOp<"dropout", [Pipe_CostInterface]> {
  let summary = "zeroes elements with probability `ratio` and divides the rest by 1 - ratio";
  let description = [{
    ATen `dropout` in training mode, ONNX Dropout with training_mode = 1. It stands for an active Dropout of the model file. Inference removes it (`pipe-import-drop-dropout`). Training gives it a `key`
    of three i64 (seed, step, microbatch) and a `stream`, its position in the walk that imported the graph (`pipe-import-seed-dropout`): element i is
    kept or not by Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", 2011) of the key, the stream and i alone,
    so the same whatever the cut, the schedule and the recomputation. Without a key it has no kernel.

    ```mlir
    %r = pipe.dropout %x key %key ratio 1.000000e-01 {stream = 7 : i64} : (tensor<2x4xf32>, tensor<3xi64>) -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins Pipe_FloatTensor:$operand, Optional<Pipe_IndexTensor>:$key, F64Attr:$ratio, DefaultValuedAttr<I64Attr, "0">:$stream);
  let results = (outs Pipe_FloatTensor:$result);
  let assemblyFormat = "$operand (`key` $key^)? `ratio` $ratio attr-dict `:` functional-type(operands, results)";
}

#endif
