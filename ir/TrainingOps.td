// Ops that only training needs: losses, and the derivatives of ops whose
// derivative is no composition of others.
#ifndef PIPEC_IR_TRAININGOPS_TD
#define PIPEC_IR_TRAININGOPS_TD

include "ir/PipeOpBase.td"

def Pipe_ChainOp : Pipe_TensorOp<"chain", [Pipe_CostInterface]> {
  let summary = "a gradient times (or over) a local derivative: 0 where the gradient is 0, whatever the derivative";
  let description = [{
    0 times infinity or NaN is NaN, and one such element spoils a whole sum. A gradient of 0 says that nothing depends on the
    element, as where a `select` took another value, so its derivative is no factor of anything. Elsewhere it is `mul` or
    `div`. The operands broadcast.

    ```mlir
    %r = pipe.chain div %grad, %x : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Pipe_ChainKindAttr:$kind, Pipe_FloatTensor:$grad, Pipe_FloatTensor:$slope);
  let results = (outs Pipe_FloatTensor:$result);
  let assemblyFormat = "$kind $grad `,` $slope attr-dict `:` functional-type(operands, results)";
}

def Pipe_StopGradientOp : Pipe_TensorOp<"stop_gradient", [Pipe_OwnCost]> {
  let summary = "its operand, through which no gradient flows (ATen detach)";
  let description = [{
    It has no derivative, which is its purpose. Frontends make it where they import for training. Its result lies where
    the operand lies.

    ```mlir
    %r = pipe.stop_gradient %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Pipe_FloatTensor:$operand);
  let results = (outs Pipe_FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
}

def Pipe_CrossEntropyOp : Pipe_CostlyOp<"cross_entropy"> {
  let summary = "sum over rows of -log softmax(logits)[label]; classes are the last dimension (ATen cross_entropy_loss, reduction sum)";
  let description = [{
    Rows whose label is `ignore` count nothing. With `smoothing` e and C classes a row's loss is
    (1 - e) * (-log p[label]) + e / C * sum of -log p. Rows are computed as log_softmax does and added in f64 in
    ascending order. A label out of range is an error at run time. The labels have the logits' shape without the classes; the result is a scalar of the logits' element type.

    ```mlir
    %r = pipe.cross_entropy %x, %l ignore -100 smoothing 0.000000e+00 : (tensor<2x3x4xf32>, tensor<2x3xi64>) -> tensor<f32>
    ```
  }];
  let arguments = (ins Pipe_FloatTensor:$logits, Pipe_IndexTensor:$labels, I64Attr:$ignore_index, F64Attr:$label_smoothing);
  let results = (outs Pipe_FloatTensor:$result);
  let assemblyFormat = "$logits `,` $labels `ignore` $ignore_index `smoothing` $label_smoothing attr-dict `:` functional-type(operands, results)";
}

def Pipe_CrossEntropyGradOp : Pipe_CostlyOp<"cross_entropy_grad"> {
  let summary = "gradient of cross_entropy for its logits: (softmax(logits) - target) * grad, 0 in ignored rows";
  let description = [{
    The target of a row is 1 at its label and 0 elsewhere, smoothed as in `cross_entropy`, whose attributes it has. `grad` is the gradient of the scalar loss. The result has the logits' type.
    It is computed in f32 (f64 for f64) and rounded once.

    ```mlir
    %r = pipe.cross_entropy_grad %x, %l, %grad ignore -100 smoothing 0.000000e+00 : (tensor<2x3x4xf32>, tensor<2x3xi64>, tensor<f32>) -> tensor<2x3x4xf32>
    ```
  }];
  let arguments = (ins Pipe_FloatTensor:$logits, Pipe_IndexTensor:$labels, Pipe_FloatTensor:$grad, I64Attr:$ignore_index, F64Attr:$label_smoothing);
  let results = (outs Pipe_FloatTensor:$result);
  let assemblyFormat = "$logits `,` $labels `,` $grad `ignore` $ignore_index `smoothing` $label_smoothing attr-dict `:` functional-type(operands, results)";
}

def Pipe_MaxPoolGradOp : Pipe_CostlyOp<"max_pool_grad"> {
  let summary = "gradient of max_pool: each window's gradient goes to its first largest element (or first NaN), row-major";
  let description = [{
    `input` is the pool's operand and `grad` has the pool's result's type; the attributes are the pool's. The result has the type of `input`. Where windows overlap, gradients add up in f32 (f64 for f64), windows in row-major order.

    ```mlir
    %r = pipe.max_pool_grad %x, %grad window [3, 3] strides [2, 2] padding [1, 1, 1, 1] dilations [1, 1] : (tensor<1x4x8x8xf32>, tensor<1x4x4x4xf32>) -> tensor<1x4x8x8xf32>
    ```
  }];
  let arguments = (ins Pipe_FloatTensor:$input, Pipe_FloatTensor:$grad, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides,
    DenseI64ArrayAttr:$padding, DenseI64ArrayAttr:$dilations, DefaultValuedAttr<BoolAttr, "false">:$ceil_mode);
  let results = (outs Pipe_FloatTensor:$result);
  let assemblyFormat = "$input `,` $grad `window` $window `strides` $strides `padding` $padding `dilations` $dilations attr-dict `:` functional-type(operands, results)";
}

def Pipe_AvgPoolGradOp : Pipe_CostlyOp<"avg_pool_grad"> {
  let summary = "gradient of avg_pool for an input of `shape`: each window's gradient, divided by its count, goes to all its elements";
  let description = [{
    `grad` has the pool's result's type; the other attributes are the pool's. Where windows overlap, gradients add up in f32 (f64 for f64), windows in row-major order.

    ```mlir
    %r = pipe.avg_pool_grad %grad to [1, 4, 8, 8] window [3, 3] strides [2, 2] padding [1, 1, 1, 1] dilations [1, 1] : (tensor<1x4x4x4xf32>) -> tensor<1x4x8x8xf32>
    ```
  }];
  let arguments = (ins Pipe_FloatTensor:$grad, DenseI64ArrayAttr:$shape, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides,
    DenseI64ArrayAttr:$padding, DenseI64ArrayAttr:$dilations, DefaultValuedAttr<BoolAttr, "false">:$count_include_pad, DefaultValuedAttr<BoolAttr, "false">:$ceil_mode);
  let results = (outs Pipe_FloatTensor:$result);
  let assemblyFormat = "$grad `to` $shape `window` $window `strides` $strides `padding` $padding `dilations` $dilations attr-dict `:` functional-type(operands, results)";
}

def Pipe_ResizeGradOp : Pipe_CostlyOp<"resize_grad"> {
  let summary = "gradient of resize for an operand of `shape`: the transposed interpolation";
  let description = [{
    `grad` has the type of the resize's result; the attributes are the resize's, `shape` but for its operand's. The passes of `resize` run transposed, the last first; each result's gradient goes to its neighbours, in ascending order of results.

    ```mlir
    %r = pipe.resize_grad linear %grad to [1, 2, 3] scales [1.000000e+00, 1.000000e+00, 2.000000e+00] : (tensor<1x2x6xf32>) -> tensor<1x2x3xf32>
    ```
  }];
  let arguments = (ins Pipe_ResizeModeAttr:$mode, Pipe_FloatTensor:$grad, DenseI64ArrayAttr:$shape, DenseF64ArrayAttr:$scales,
    DefaultValuedAttr<Pipe_ResizeCoordinatesAttr, "::pipec::pipe::ResizeCoordinates::half_pixel">:$coordinates,
    DefaultValuedAttr<Pipe_ResizeRoundingAttr, "::pipec::pipe::ResizeRounding::round_prefer_floor">:$rounding,
    DefaultValuedAttr<F64Attr, "-0.75">:$cubic_coeff, DefaultValuedAttr<BoolAttr, "false">:$exclude_outside);
  let results = (outs Pipe_FloatTensor:$result);
  let assemblyFormat = "$mode $grad `to` $shape `scales` $scales attr-dict `:` functional-type(operands, results)";
}

#endif
