// Reductions, running combinations and selection of extremes. The order of a
// reduction follows from its shape alone (decision 6).
#ifndef PIPEC_IR_REDUCEOPS_TD
#define PIPEC_IR_REDUCEOPS_TD

include "ir/PipeOpBase.td"

def Pipe_ReduceOp : Pipe_TensorOp<"reduce", [Pipe_OwnCost]> {
  let hasFolder = 1;
  let summary = "combines the elements along some dimensions";
  let description = [{
    `dims` are distinct, ascending and in range; empty means none (the operand itself). `keep_dims` leaves
    them as 1. f16 and bf16 accumulate in f32; `mean` divides the sum once; integer `mean` divides toward
    zero. Over nothing: sum 0, prod 1, mean NaN (0 for integers), max and min the least and greatest value.
    max and min of bool are or and and; NaN wins in max and min. Equal extremes share the gradient evenly; with
    `select_first`, of max and min along one dimension, the first has all of it.

    Example: `%1 = pipe.reduce sum %0 dims [1] keep : (tensor<2x3xf32>) -> tensor<2x1xf32>`
  }];
  let arguments = (ins Pipe_ReduceKindAttr:$kind, Pipe_Tensor:$operand, DenseI64ArrayAttr:$dims, UnitAttr:$keep_dims, UnitAttr:$select_first);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "$kind $operand `dims` $dims (`keep` $keep_dims^)? attr-dict `:` functional-type(operands, results)";
}

def Pipe_ArgReduceOp : Pipe_TensorOp<"arg_reduce", [Pipe_CostInterface]> {
  let summary = "position of the largest or smallest element along one dimension, as i64";
  let description = "Of equals the first, or the last with `select_last`. NaN counts as the extreme.";
  let arguments = (ins Pipe_ArgReduceKindAttr:$kind, Pipe_NumTensor:$operand, I64Attr:$dim, UnitAttr:$keep_dims, UnitAttr:$select_last);
  let results = (outs StaticShapeTensorOf<[I64]>:$result);
  let assemblyFormat = "$kind $operand `dim` $dim (`keep` $keep_dims^)? (`last` $select_last^)? attr-dict `:` functional-type(operands, results)";
}

def Pipe_CumulativeOp : Pipe_TensorOp<"cumulative", [Pipe_CostInterface]> {
  let summary = "running sum or product along one dimension";
  let description = "`exclusive` leaves an element out of its own result; `reverse` runs from the end.";
  let arguments = (ins Pipe_CumulativeKindAttr:$kind, Pipe_NumTensor:$operand, I64Attr:$dim, UnitAttr:$exclusive, UnitAttr:$reverse);
  let results = (outs Pipe_NumTensor:$result);
  let assemblyFormat = "$kind $operand `dim` $dim (`exclusive` $exclusive^)? (`reverse` $reverse^)? attr-dict `:` functional-type(operands, results)";
}

def Pipe_TopKOp : Pipe_TensorOp<"top_k", [Pipe_OwnCost]> {
  let summary = "the k largest (or smallest) elements along one dimension, in order, and their positions";
  let description = "Of equals the one with the lower position comes first. NaN is larger than everything. `k` equal to the dimension is a sort.";
  let arguments = (ins Pipe_NumTensor:$operand, I64Attr:$k, I64Attr:$dim, DefaultValuedAttr<BoolAttr, "true">:$largest);
  let results = (outs Pipe_NumTensor:$values, StaticShapeTensorOf<[I64]>:$indices);
  let assemblyFormat = "$operand `k` $k `dim` $dim attr-dict `:` functional-type(operands, results)";
}

#endif
