// Reading and writing at computed positions. Negative indices count from the
// end; an index out of range is an error at run time that names the op.
#ifndef PIPEC_IR_INDEXOPS_TD
#define PIPEC_IR_INDEXOPS_TD

include "ir/PipeOpBase.td"

def Pipe_GatherOp : Pipe_MoveOp<"gather"> {
  let summary = "takes slices along one dimension (ATen index_select, ONNX Gather; axis 0 of a table is an embedding)";
  let description = [{
    Result shape: operand.shape[:dim] + indices.shape + operand.shape[dim+1:]. A negative index counts from the end; one that is out of range is an error at run time.

    `padding_index` is a position along `dim` that gets no gradient (`padding_idx` of torch.nn.Embedding); the result does not depend on it.

    ```mlir
    %r = pipe.gather %table, %ids dim 0 {padding_index = 0 : i64} : (tensor<10x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
    ```
  }];
  let arguments = (ins Pipe_Tensor:$operand, Pipe_IndexTensor:$indices, I64Attr:$dim, OptionalAttr<I64Attr>:$padding_index);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "$operand `,` $indices `dim` $dim attr-dict `:` functional-type(operands, results)";
}

def Pipe_GatherElementsOp : Pipe_MoveOp<"gather_elements"> {
  let summary = "result[i,j,..] = operand[i,j,..] with the index at `dim` replaced by indices[i,j,..] (ATen gather)";
  let description = [{
    ATen `gather`, ONNX GatherElements. Ranks agree; outside `dim` the indices' sizes are at most the operand's. The result has the indices' shape. A negative index
    counts from the end; one that is out of range is an error at run time.

    ```mlir
    %r = pipe.gather_elements %x, %i dim 1 : (tensor<5x3xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Pipe_Tensor:$operand, Pipe_IndexTensor:$indices, I64Attr:$dim);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "$operand `,` $indices `dim` $dim attr-dict `:` functional-type(operands, results)";
}

def Pipe_GatherNdOp : Pipe_MoveOp<"gather_nd"> {
  let summary = "the last dimension of the indices is a position in the operand (ONNX GatherND)";
  let description = [{
    The first `batch_dims` dimensions of operand and indices agree and are kept. With k = indices.shape[-1]:
    result shape is indices.shape[:-1] + operand.shape[batch_dims + k:]. A negative index counts from the end; one that is out of range is an error at run time.

    ```mlir
    %r = pipe.gather_nd %x, %i {batch_dims = 1 : i64} : (tensor<5x3x4xf32>, tensor<5x1xi64>) -> tensor<5x4xf32>
    ```
  }];
  let arguments = (ins Pipe_Tensor:$operand, Pipe_IndexTensor:$indices, DefaultValuedAttr<I64Attr, "0">:$batch_dims);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "$operand `,` $indices attr-dict `:` functional-type(operands, results)";
}

def Pipe_ScatterElementsOp : Pipe_MoveOp<"scatter_elements"> {
  let summary = "a copy of the operand in which updates[i,j,..] goes to the position that indices[i,j,..] replaces at `dim`";
  let description = [{
    ATen `scatter` and `scatter_reduce`, ONNX ScatterElements. `set` replaces what is there; `add`, `mul`, `max` and `min` combine with it, and each update rounds by itself. Integers wrap; of bool,
    add and max are or, mul and min are and. Indices and updates have one shape. Updates apply in row-major order, so of two `set` updates to one place the later wins.
    A negative index counts from the end; one that is out of range is an error at run time.

    ```mlir
    %r = pipe.scatter_elements add %x, %i, %u dim 0 : (tensor<5x3xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<5x3xf32>
    ```
  }];
  let arguments = (ins Pipe_ScatterKindAttr:$kind, Pipe_Tensor:$operand, Pipe_IndexTensor:$indices, Pipe_Tensor:$updates, I64Attr:$dim);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "$kind $operand `,` $indices `,` $updates `dim` $dim attr-dict `:` functional-type(operands, results)";
}

def Pipe_ScatterNdOp : Pipe_MoveOp<"scatter_nd"> {
  let summary = "a copy of the operand with slices updated at the positions in the last dimension of the indices (ONNX ScatterND)";
  let description = [{
    ONNX ScatterND; with one index a row, ATen `index_add` and `index_copy` along dimension 0. With k = indices.shape[-1], the updates' shape is indices.shape[:-1] + operand.shape[k:]. Kinds, order and indices out of range are as in
    `scatter_elements`.

    ```mlir
    %r = pipe.scatter_nd add %x, %i, %u : (tensor<5x3xf32>, tensor<4x1xi64>, tensor<4x3xf32>) -> tensor<5x3xf32>
    ```
  }];
  let arguments = (ins Pipe_ScatterKindAttr:$kind, Pipe_Tensor:$operand, Pipe_IndexTensor:$indices, Pipe_Tensor:$updates);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "$kind $operand `,` $indices `,` $updates attr-dict `:` functional-type(operands, results)";
}

def Pipe_ResizeOp : Pipe_TensorOp<"resize", [Pipe_OwnCost]> {
  let hasFolder = 1;
  let summary = "interpolated sampling to another size (ONNX Resize)";
  let description = [{
    ATen `upsample_nearest`, `upsample_linear` and `upsample_bicubic` and their like of one to three dimensions are forms of it.

    `shape` is the result's; `scales[d]` relates positions (result size / operand size, as the model states it). Dimensions with scale 1 and
    equal size are copied. `cubic_coeff`, `exclude_outside` as in ONNX. No antialiasing. Dimensions are sampled one after the other, in ascending order, in f32 (f64 for f64), with positions and
    weights computed in f64.

    ```mlir
    %r = pipe.resize linear %x to [1, 2, 6] scales [1.000000e+00, 1.000000e+00, 2.000000e+00] : (tensor<1x2x3xf32>) -> tensor<1x2x6xf32>
    ```
  }];
  let arguments = (ins Pipe_ResizeModeAttr:$mode, Pipe_FloatTensor:$operand, DenseI64ArrayAttr:$shape, DenseF64ArrayAttr:$scales,
    DefaultValuedAttr<Pipe_ResizeCoordinatesAttr, "::pipec::pipe::ResizeCoordinates::half_pixel">:$coordinates,
    DefaultValuedAttr<Pipe_ResizeRoundingAttr, "::pipec::pipe::ResizeRounding::round_prefer_floor">:$rounding,
    DefaultValuedAttr<F64Attr, "-0.75">:$cubic_coeff, DefaultValuedAttr<BoolAttr, "false">:$exclude_outside);
  let results = (outs Pipe_FloatTensor:$result);
  let assemblyFormat = "$mode $operand `to` $shape `scales` $scales attr-dict `:` functional-type(operands, results)";
}

#endif
