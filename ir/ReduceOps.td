// Reductions, running combinations and selection of extremes. The order of a
// reduction follows from its shape alone (decision 6).
#ifndef PIPEC_IR_REDUCEOPS_TD
#define PIPEC_IR_REDUCEOPS_TD

include "ir/PipeOpBase.td"

def Pipe_ReduceOp : Pipe_TensorOp<"reduce", [Pipe_OwnCost]> {
  let hasFolder = 1;
  let summary = "combines the elements along some dimensions";
  let description = [{
    ATen `sum`, `mean`, `prod`, `amax` and `amin`, ONNX ReduceSum, ReduceMean, ReduceProd, ReduceMax and ReduceMin.

    `dims` are distinct, ascending and in range; empty means none (the operand itself). `keep_dims` leaves
    them as 1. The result has the operand's element type. f16 and bf16 accumulate in f32, f32 in f64; `mean` divides the sum once; integers wrap, and their `mean`
    divides toward zero. Over nothing: sum 0, prod 1, mean NaN (0 for integers), max and min the least and greatest value.
    max and min of bool are or and and; NaN wins in max and min. The order follows from the shape alone: a row that lies together is
    combined in 8 lanes, else columns are combined in ascending order.

    Equal extremes share the gradient evenly; with `select_first`, of max and min along one dimension, the first has all of it.

    ```mlir
    %r = pipe.reduce sum %x dims [1] keep : (tensor<2x3xf32>) -> tensor<2x1xf32>
    ```
  }];
  let arguments = (ins Pipe_ReduceKindAttr:$kind, Pipe_Tensor:$operand, DenseI64ArrayAttr:$dims, UnitAttr:$keep_dims, UnitAttr:$select_first);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "$kind $operand `dims` $dims (`keep` $keep_dims^)? attr-dict `:` functional-type(operands, results)";
}

def Pipe_ArgReduceOp : Pipe_TensorOp<"arg_reduce", [Pipe_CostInterface]> {
  let summary = "position of the largest or smallest element along one dimension, as i64";
  let description = [{
    ATen `argmax` and `argmin`, ONNX ArgMax and ArgMin. Of equals the first, or the last with `last`. NaN counts as the extreme. `keep` leaves the
    dimension as 1. The dimension is not empty.

    ```mlir
    %r = pipe.arg_reduce argmax %x dim 1 keep : (tensor<2x3xf32>) -> tensor<2x1xi64>
    ```
  }];
  let arguments = (ins Pipe_ArgReduceKindAttr:$kind, Pipe_NumTensor:$operand, I64Attr:$dim, UnitAttr:$keep_dims, UnitAttr:$select_last);
  let results = (outs StaticShapeTensorOf<[I64]>:$result);
  let assemblyFormat = "$kind $operand `dim` $dim (`keep` $keep_dims^)? (`last` $select_last^)? attr-dict `:` functional-type(operands, results)";
}

def Pipe_CumulativeOp : Pipe_TensorOp<"cumulative", [Pipe_CostInterface]> {
  let summary = "running sum or product along one dimension";
  let description = [{
    ATen `cumsum` and `cumprod`, ONNX CumSum. The result has the operand's type. Elements are combined one by one, in f32 for f16 and bf16, in f64 for f32 and f64, and each result is rounded once; integers wrap.
    `exclusive` leaves an element out of its own result; `reverse` runs from the end.

    ```mlir
    %r = pipe.cumulative cumsum %x dim 1 exclusive : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Pipe_CumulativeKindAttr:$kind, Pipe_NumTensor:$operand, I64Attr:$dim, UnitAttr:$exclusive, UnitAttr:$reverse);
  let results = (outs Pipe_NumTensor:$result);
  let assemblyFormat = "$kind $operand `dim` $dim (`exclusive` $exclusive^)? (`reverse` $reverse^)? attr-dict `:` functional-type(operands, results)";
}

def Pipe_TopKOp : Pipe_TensorOp<"top_k", [Pipe_OwnCost]> {
  let summary = "the k largest (or smallest) elements along one dimension, in order, and their positions";
  let description = [{
    ATen `topk` and `sort`, ONNX TopK, always sorted. The dimension becomes `k` long; positions are i64. The largest come first, or the smallest with
    `largest = false`. Of equals the one with the lower position comes first. NaN is larger than everything. `k` equal to the dimension is a sort.

    ```mlir
    %values, %indices = pipe.top_k %x k 2 dim 1 : (tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xi64>)
    ```
  }];
  let arguments = (ins Pipe_NumTensor:$operand, I64Attr:$k, I64Attr:$dim, DefaultValuedAttr<BoolAttr, "true">:$largest);
  let results = (outs Pipe_NumTensor:$values, StaticShapeTensorOf<[I64]>:$indices);
  let assemblyFormat = "$operand `k` $k `dim` $dim attr-dict `:` functional-type(operands, results)";
}

#endif
