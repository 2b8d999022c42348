// Data movement: nothing here computes.
#ifndef PIPEC_IR_SHAPEOPS_TD
#define PIPEC_IR_SHAPEOPS_TD

include "ir/PipeOpBase.td"

def Pipe_ConstantOp : Pipe_Op<"constant", [Pure, ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "a literal of at most 16 elements, or a splat (PIPE-I5)";
  let description = [{
    The value is in the IR. Larger constants are a `pipe.weight` of kind `constant` (PIPE-I5).

    ```mlir
    %r = pipe.constant dense<[1, 2]> : tensor<2xi64>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "$value attr-dict";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Pipe_IotaOp : Pipe_Op<"iota", [Pure, Pipe_OwnCost]> {
  let summary = "each element is its position along one dimension";
  let description = [{
    StableHLO `iota`; in one dimension ATen `arange` and ONNX Range, from 0 by 1. Integers wrap, floats round to nearest.

    ```mlir
    %r = pipe.iota dim 1 : tensor<2x16xi64>
    ```
  }];
  let arguments = (ins I64Attr:$dim);
  let results = (outs Pipe_NumTensor:$result);
  let assemblyFormat = "`dim` $dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Pipe_ReshapeOp : Pipe_MoveOp<"reshape"> {
  let hasFolder = 1;
  let summary = "the same elements, row-major, in another shape";
  let description = [{
    ATen `reshape` and `view`, ONNX Reshape, Squeeze, Unsqueeze and Flatten. `shape` has as many elements as the operand. Where the memory plan can, it
    gives both one place, and nothing is copied.

    ```mlir
    %r = pipe.reshape %x to [3, 1, 2] : (tensor<2x3xf32>) -> tensor<3x1x2xf32>
    ```
  }];
  let arguments = (ins Pipe_Tensor:$operand, DenseI64ArrayAttr:$shape);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "$operand `to` $shape attr-dict `:` functional-type(operands, results)";
}

def Pipe_TransposeOp : Pipe_MoveOp<"transpose"> {
  let hasFolder = 1;
  let summary = "result dimension k is operand dimension permutation[k]";
  let description = [{
    ATen `permute`, ONNX Transpose. `permutation` holds each dimension once.

    ```mlir
    %r = pipe.transpose %x by [1, 2, 0] : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
    ```
  }];
  let arguments = (ins Pipe_Tensor:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "$operand `by` $permutation attr-dict `:` functional-type(operands, results)";
}

def Pipe_BroadcastOp : Pipe_MoveOp<"broadcast"> {
  let hasFolder = 1;
  let summary = "stretches to `shape` by NumPy's rule; the operand's dimensions are 1 or the result's";
  let description = [{
    ATen `expand`, ONNX Expand with a shape that no dimension of the operand exceeds. Shapes are aligned at the right. Binary ops broadcast by themselves and need no such op.

    ```mlir
    %r = pipe.broadcast %x to [4, 2, 3] : (tensor<2x1xf32>) -> tensor<4x2x3xf32>
    ```
  }];
  let arguments = (ins Pipe_Tensor:$operand, DenseI64ArrayAttr:$shape);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "$operand `to` $shape attr-dict `:` functional-type(operands, results)";
}

def Pipe_SliceOp : Pipe_MoveOp<"slice"> {
  let hasFolder = 1;
  let summary = "elements starts[d], starts[d] + strides[d], ... below limits[d] of each dimension";
  let description = [{
    StableHLO `slice`; of one dimension ATen `slice`, ONNX Slice with positive steps. One entry per dimension; 0 <= start <= limit <= size; strides are positive (see `reverse`).

    ```mlir
    %r = pipe.slice %x [0, 1] to [2, 6] by [1, 2] : (tensor<2x8xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Pipe_Tensor:$operand, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$limits, DenseI64ArrayAttr:$strides);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "$operand $starts `to` $limits `by` $strides attr-dict `:` functional-type(operands, results)";
}

def Pipe_ReverseOp : Pipe_MoveOp<"reverse"> {
  let hasFolder = 1;
  let summary = "turns round the order along some dimensions (distinct, ascending)";
  let description = [{
    ATen `flip`. The result has the operand's type.

    ```mlir
    %r = pipe.reverse %x dims [1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Pipe_Tensor:$operand, DenseI64ArrayAttr:$dims);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "$operand `dims` $dims attr-dict `:` functional-type(operands, results)";
}

def Pipe_PadOp : Pipe_MoveOp<"pad"> {
  let hasFolder = 1;
  let summary = "adds elements before and after each dimension";
  let description = [{
    ATen `pad`, ONNX Pad. `low` and `high` have one entry per dimension; negative entries crop (only in mode `constant`). `value` is a scalar of the
    operand's element type, read in mode `constant` only. `reflect` mirrors without repeating the edge, `edge` repeats it, `wrap` continues from the other end.

    ```mlir
    %r = pipe.pad constant %x, %v low [1, -1] high [0, 2] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x4xf32>
    ```
  }];
  let arguments = (ins Pipe_PadModeAttr:$mode, Pipe_Tensor:$operand, Pipe_Tensor:$value, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "$mode $operand `,` $value `low` $low `high` $high attr-dict `:` functional-type(operands, results)";
}

def Pipe_ConcatOp : Pipe_MoveOp<"concat"> {
  let hasFolder = 1;
  let summary = "joins tensors along one dimension; the others agree";
  let description = [{
    ATen `cat`, ONNX Concat. The inputs have one element type and one rank; sizes agree but along `dim`, where the result's is their sum.

    ```mlir
    %r = pipe.concat %x, %y dim 1 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins Variadic<Pipe_Tensor>:$inputs, I64Attr:$dim);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "$inputs `dim` $dim attr-dict `:` functional-type(operands, results)";
}

#endif
