// Data movement: nothing here computes.
#ifndef PIPEC_IR_SHAPEOPS_TD
#define PIPEC_IR_SHAPEOPS_TD

include "ir/PipeOpBase.td"

def Pipe_ConstantOp : Pipe_Op<"constant", [Pure, ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "a literal of at most 16 elements, or a splat (PIPE-I5)";
  let description = "Example: `%0 = pipe.constant dense<[1, 2]> : tensor<2xi64>`";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "$value attr-dict";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Pipe_IotaOp : Pipe_Op<"iota", [Pure, Pipe_OwnCost]> {
  let summary = "each element is its position along one dimension";
  let description = "Example: `%0 = pipe.iota dim 0 : tensor<16xi64>`";
  let arguments = (ins I64Attr:$dim);
  let results = (outs Pipe_NumTensor:$result);
  let assemblyFormat = "`dim` $dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Pipe_ReshapeOp : Pipe_MoveOp<"reshape"> {
  let hasFolder = 1;
  let summary = "the same elements, row-major, in another shape";
  let arguments = (ins Pipe_Tensor:$operand, DenseI64ArrayAttr:$shape);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "$operand `to` $shape attr-dict `:` functional-type(operands, results)";
}

def Pipe_TransposeOp : Pipe_MoveOp<"transpose"> {
  let hasFolder = 1;
  let summary = "result dimension k is operand dimension permutation[k]";
  let arguments = (ins Pipe_Tensor:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "$operand `by` $permutation attr-dict `:` functional-type(operands, results)";
}

def Pipe_BroadcastOp : Pipe_MoveOp<"broadcast"> {
  let hasFolder = 1;
  let summary = "stretches to `shape` by NumPy's rule; the operand's dimensions are 1 or the result's";
  let arguments = (ins Pipe_Tensor:$operand, DenseI64ArrayAttr:$shape);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "$operand `to` $shape attr-dict `:` functional-type(operands, results)";
}

def Pipe_SliceOp : Pipe_MoveOp<"slice"> {
  let hasFolder = 1;
  let summary = "elements starts[d], starts[d] + strides[d], ... below limits[d] of each dimension";
  let description = "One entry per dimension; 0 <= start <= limit <= size; strides are positive (see `reverse`).";
  let arguments = (ins Pipe_Tensor:$operand, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$limits, DenseI64ArrayAttr:$strides);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "$operand $starts `to` $limits `by` $strides attr-dict `:` functional-type(operands, results)";
}

def Pipe_ReverseOp : Pipe_MoveOp<"reverse"> {
  let hasFolder = 1;
  let summary = "turns round the order along some dimensions (distinct, ascending)";
  let arguments = (ins Pipe_Tensor:$operand, DenseI64ArrayAttr:$dims);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "$operand `dims` $dims attr-dict `:` functional-type(operands, results)";
}

def Pipe_PadOp : Pipe_MoveOp<"pad"> {
  let hasFolder = 1;
  let summary = "adds elements before and after each dimension";
  let description = [{
    `low` and `high` have one entry per dimension; negative entries crop (only in mode `constant`). `value` is a scalar of the
    operand's element type, read in mode `constant` only. `reflect` mirrors without repeating the edge, `edge` repeats it, `wrap` continues from the other end.
  }];
  let arguments = (ins Pipe_PadModeAttr:$mode, Pipe_Tensor:$operand, Pipe_Tensor:$value, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "$mode $operand `,` $value `low` $low `high` $high attr-dict `:` functional-type(operands, results)";
}

def Pipe_ConcatOp : Pipe_MoveOp<"concat"> {
  let hasFolder = 1;
  let summary = "joins tensors along one dimension; the others agree";
  let arguments = (ins Variadic<Pipe_Tensor>:$inputs, I64Attr:$dim);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "$inputs `dim` $dim attr-dict `:` functional-type(operands, results)";
}

#endif
