// Matrix products, convolutions and pooling: the ops that call a library.
#ifndef PIPEC_IR_LINEAROPS_TD
#define PIPEC_IR_LINEAROPS_TD

include "ir/PipeOpBase.td"

def Pipe_DotGeneralOp : Pipe_CostlyOp<"dot_general"> {
  let summary = "batched contraction (StableHLO dot_general)";
  let description = [{
    ATen `matmul`, `bmm` and `einsum`, ONNX MatMul, Gemm and Einsum come to it. Result shape: the batch dimensions in the order given, then the other dimensions of lhs, then of rhs.
    Paired dimensions agree. f16 and bf16 accumulate in f32 and round once, f32 in f32, f64 in f64; integers wrap. The order of the sum follows from the shapes alone.

    The example is `x @ w.T`.

    ```mlir
    %r = pipe.dot_general %x, %w contract [1] x [1] : (tensor<8x512xf32>, tensor<10x512xf32>) -> tensor<8x10xf32>
    ```
  }];
  let arguments = (ins Pipe_NumTensor:$lhs, Pipe_NumTensor:$rhs,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$lhs_batch, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$rhs_batch,
    DenseI64ArrayAttr:$lhs_contract, DenseI64ArrayAttr:$rhs_contract);
  let results = (outs Pipe_NumTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`batch` $lhs_batch^ `x` $rhs_batch)? `contract` $lhs_contract `x` $rhs_contract
    attr-dict `:` functional-type(operands, results)
  }];
}

// Windows: `padding` is [low0, low1, .., high0, high1, ..], one entry per spatial dimension each; may be negative only for
// convolutions. Data is N C spatial.., one to three spatial dimensions.
def Pipe_ConvolutionOp : Pipe_CostlyOp<"convolution"> {
  let summary = "grouped, strided, dilated cross-correlation: input N C *, weight O C/groups *, result N O *";
  let description = [{
    ATen `convolution` without a bias, ONNX Conv. One to three spatial dimensions. `padding` is [low0, low1, .., high0, high1, ..], one entry per spatial dimension each;
    entries may be negative, which crops. Spatial size: (in + low + high - dilation * (kernel - 1) - 1) / stride + 1, rounded down. f16, bf16 and f32 accumulate in f32, f64 in f64, in an order that follows from the shapes alone.

    ```mlir
    %r = pipe.convolution %x, %w strides [2, 1] padding [1, 0, 1, 0] dilations [1, 2] {groups = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x4x4xf32>
    ```
  }];
  let arguments = (ins Pipe_FloatTensor:$input, Pipe_FloatTensor:$weight, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$padding,
    DenseI64ArrayAttr:$dilations, DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs Pipe_FloatTensor:$result);
  let assemblyFormat = "$input `,` $weight `strides` $strides `padding` $padding `dilations` $dilations attr-dict `:` functional-type(operands, results)";
}

def Pipe_ConvTransposeOp : Pipe_CostlyOp<"conv_transpose"> {
  let summary = "the input gradient of a convolution as an op: input N C *, weight C O/groups *, result N O *";
  let description = [{
    ATen `convolution` with transposed = true and no bias, ONNX ConvTranspose. `padding` is as in `convolution`.
    Spatial size: (in - 1) * stride - low - high + dilation * (kernel - 1) + 1 + output_padding. Sums run as in `convolution`.

    ```mlir
    %r = pipe.conv_transpose %x, %w strides [2, 1] padding [1, 0, 1, 0] dilations [1, 1] output_padding [1, 0] {groups = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x6x16x10xf32>
    ```
  }];
  let arguments = (ins Pipe_FloatTensor:$input, Pipe_FloatTensor:$weight, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$padding,
    DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$output_padding, DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs Pipe_FloatTensor:$result);
  let assemblyFormat = "$input `,` $weight `strides` $strides `padding` $padding `dilations` $dilations `output_padding` $output_padding attr-dict `:` functional-type(operands, results)";
}

def Pipe_MaxPoolOp : Pipe_CostlyOp<"max_pool"> {
  let summary = "largest element of each window; padding never wins, NaN does";
  let description = [{
    ATen `max_pool1d` to `max_pool3d`, ONNX MaxPool without indices. `padding` is [low0, low1, .., high0, high1, ..], one entry per spatial dimension each; none is negative.
    `ceil_mode` rounds the result size up; a last window that would start in the high padding is dropped, and a window may be larger than the padded input by less than a stride, as in PyTorch and ONNX.
    A window wholly in the padding gives the least value. Of equals the first has the gradient.

    ```mlir
    %r = pipe.max_pool %x window [3, 3] strides [2, 2] padding [1, 1, 1, 1] dilations [1, 1] : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>
    ```
  }];
  let arguments = (ins Pipe_NumTensor:$input, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$padding,
    DenseI64ArrayAttr:$dilations, DefaultValuedAttr<BoolAttr, "false">:$ceil_mode);
  let results = (outs Pipe_NumTensor:$result);
  let assemblyFormat = "$input `window` $window `strides` $strides `padding` $padding `dilations` $dilations attr-dict `:` functional-type(operands, results)";
}

def Pipe_AvgPoolOp : Pipe_CostlyOp<"avg_pool"> {
  let summary = "mean of each window, over the elements inside, or inside and in the padding (`count_include_pad`)";
  let description = [{
    ATen `avg_pool1d` to `avg_pool3d`, ONNX AveragePool. Windows are as in `max_pool`. What `ceil_mode` adds beyond the padding is never counted. A window with nothing in it gives 0. Elements are
    added in f32 (f64 for f64) in row-major order, and the sum is divided once.

    ```mlir
    %r = pipe.avg_pool %x window [2, 2] strides [2, 2] padding [0, 0, 1, 1] dilations [1, 1] {count_include_pad = true} : (tensor<1x4x7x7xf32>) -> tensor<1x4x4x4xf32>
    ```
  }];
  let arguments = (ins Pipe_FloatTensor:$input, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$padding,
    DenseI64ArrayAttr:$dilations, DefaultValuedAttr<BoolAttr, "false">:$count_include_pad, DefaultValuedAttr<BoolAttr, "false">:$ceil_mode);
  let results = (outs Pipe_FloatTensor:$result);
  let assemblyFormat = "$input `window` $window `strides` $strides `padding` $padding `dilations` $dilations attr-dict `:` functional-type(operands, results)";
}

#endif
