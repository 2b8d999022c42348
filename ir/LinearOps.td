// Matrix products, convolutions and pooling: the ops that call a library.
#ifndef PIPEC_IR_LINEAROPS_TD
#define PIPEC_IR_LINEAROPS_TD

include "ir/PipeOpBase.td"

def Pipe_DotGeneralOp : Pipe_CostlyOp<"dot_general"> {
  let summary = "batched contraction (StableHLO dot_general)";
  let description = [{
    Result shape: the batch dimensions in the order given, then the other dimensions of lhs, then of rhs.
    Paired dimensions agree. f16 and bf16 accumulate in f32 and round once; integers wrap.

    Example (`x @ w.T`):
    `%1 = pipe.dot_general %x, %w contract [1] x [1] : (tensor<8x512xf32>, tensor<10x512xf32>) -> tensor<8x10xf32>`
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
  let arguments = (ins Pipe_FloatTensor:$input, Pipe_FloatTensor:$weight, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$padding,
    DenseI64ArrayAttr:$dilations, DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs Pipe_FloatTensor:$result);
  let assemblyFormat = "$input `,` $weight `strides` $strides `padding` $padding `dilations` $dilations attr-dict `:` functional-type(operands, results)";
}

def Pipe_ConvTransposeOp : Pipe_CostlyOp<"conv_transpose"> {
  let summary = "the input gradient of a convolution as an op: input N C *, weight C O/groups *, result N O *";
  let description = "Spatial size: (in - 1) * stride - low - high + dilation * (kernel - 1) + 1 + output_padding.";
  let arguments = (ins Pipe_FloatTensor:$input, Pipe_FloatTensor:$weight, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$padding,
    DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$output_padding, DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs Pipe_FloatTensor:$result);
  let assemblyFormat = "$input `,` $weight `strides` $strides `padding` $padding `dilations` $dilations `output_padding` $output_padding attr-dict `:` functional-type(operands, results)";
}

def Pipe_MaxPoolOp : Pipe_CostlyOp<"max_pool"> {
  let summary = "largest element of each window; padding never wins, NaN does";
  let description = "`ceil_mode` rounds the result size up; a last window that would start in the high padding is dropped, and a window may be larger than the padded input by less than a stride, as in PyTorch and ONNX.";
  let arguments = (ins Pipe_NumTensor:$input, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$padding,
    DenseI64ArrayAttr:$dilations, DefaultValuedAttr<BoolAttr, "false">:$ceil_mode);
  let results = (outs Pipe_NumTensor:$result);
  let assemblyFormat = "$input `window` $window `strides` $strides `padding` $padding `dilations` $dilations attr-dict `:` functional-type(operands, results)";
}

def Pipe_AvgPoolOp : Pipe_CostlyOp<"avg_pool"> {
  let summary = "mean of each window, over the elements inside, or inside and in the padding (`count_include_pad`)";
  let description = "What `ceil_mode` adds beyond the padding is never counted.";
  let arguments = (ins Pipe_FloatTensor:$input, DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$padding,
    DenseI64ArrayAttr:$dilations, DefaultValuedAttr<BoolAttr, "false">:$count_include_pad, DefaultValuedAttr<BoolAttr, "false">:$ceil_mode);
  let results = (outs Pipe_FloatTensor:$result);
  let assemblyFormat = "$input `window` $window `strides` $strides `padding` $padding `dilations` $dilations attr-dict `:` functional-type(operands, results)";
}

#endif
