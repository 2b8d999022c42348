// The frame around tensor ops: graph, weights, stages and transfers.
#ifndef PIPEC_IR_PIPELINEOPS_TD
#define PIPEC_IR_PIPELINEOPS_TD

include "ir/PipeAttrs.td"
include "ir/PipeTypes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Pipe_GraphOp : Pipe_Op<"graph", [IsolatedFromAbove, FunctionOpInterface, SingleBlock]> {
  let summary = "a whole model for one microbatch size";
  let description = [{
    Made by a frontend, one per module. Arguments and results carry the model's names as `pipe.name`;
    an argument that every microbatch gets uncut carries `pipe.whole`. The body ends in `pipe.output`.

    ```mlir
    pipe.graph @main(%x: tensor<8x4xf32> {pipe.name = "x"}) -> (tensor<8x4xf32> {pipe.name = "y"}) {
      %0 = pipe.relu %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
      pipe.output %0 : tensor<8x4xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
    OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    llvm::ArrayRef<mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    llvm::ArrayRef<mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    mlir::Region *getCallableRegion() { return &getBody(); }
    /// The model's name of argument or result `i`; "" where it has none.
    llvm::StringRef getInputName(unsigned i);
    llvm::StringRef getOutputName(unsigned i);
    /// Whether every microbatch gets argument `i` uncut.
    bool isWhole(unsigned i);
    /// The terminator.
    OutputOp getOutput();
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Pipe_OutputOp : Pipe_Op<"output", [Terminator, HasParent<"GraphOp">, Pure]> {
  let summary = "ends a graph with its results";
  let description = [{
    The operands have the types that the graph declares, in their order. A value may be there several times.

    ```mlir
    pipe.graph @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      pipe.output %x, %x : tensor<4xf32>, tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Pipe_Tensor>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
  let hasVerifier = 1;
}

def Pipe_WeightOp : Pipe_Op<"weight", [Symbol]> {
  let summary = "declares a parameter, buffer or constant and where its bytes lie";
  let description = [{
    It stands beside the graph, in the module. The symbol is the first state_dict name; `aliases` are the other
    names of a tied weight. The declared type is PyTorch's orientation; the source says how the bytes lie (`#pipe.source`): file, offset, length and,
    where the file holds another orientation, a permutation. Training updates a `parameter`, moves a `buffer`, and leaves a `constant` alone.

    ```mlir
    pipe.weight @lin.weight parameter : tensor<10x512xf32> from <"m.onnx", 64, 20480, [1, 0]> aliases ["head.weight"]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Pipe_WeightKindAttr:$kind, TypeAttrOf<Pipe_Tensor>:$type, Pipe_SourceAttr:$source,
    OptionalAttr<StrArrayAttr>:$aliases, OptionalAttr<StrAttr>:$sym_visibility);
  let assemblyFormat = "$sym_name $kind `:` $type `from` $source (`aliases` $aliases^)? attr-dict";
  let hasVerifier = 1;
}

def Pipe_LoadWeightOp : Pipe_Op<"load_weight", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value of a weight";
  let description = [{
    It is cheap: a reference, made again in each stage that reads it. The type is the one that the weight declares.

    ```mlir
    pipe.weight @lin.bias parameter : tensor<10xf32> from <"m.onnx", 64, 40>
    pipe.graph @main() -> tensor<10xf32> {
      %w = pipe.load_weight @lin.bias : tensor<10xf32>
      pipe.output %w : tensor<10xf32>
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$weight);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "$weight attr-dict `:` type($result)";
}

def Pipe_StageOp : Pipe_Op<"stage", [IsolatedFromAbove, SingleBlock, RecursiveMemoryEffects, HasParent<"GraphOp">]> {
  let summary = "the ops that one worker runs";
  let description = [{
    It is made by `pipe-partition-outline`. Operands are graph inputs and results of transfers; results are
    read by transfers and by `pipe.output`. Indices count from 0 in order.

    `pipe-differentiate` adds the programs of training: `backward_input` makes the gradients that go to earlier stages,
    `backward_weight` those of the stage's own parameters (decision 3). They follow all forwards, from the last stage to the first, and may also
    read results of their own stage's earlier phases: residuals, kept for a microbatch until its last reader ran.

    ```mlir
    pipe.graph @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
      %0 = pipe.stage 0 (%a = %x : tensor<8x4xf32>) -> tensor<8x4xf32> {
        %1 = pipe.relu %a : (tensor<8x4xf32>) -> tensor<8x4xf32>
        pipe.yield %1 : tensor<8x4xf32>
      }
      pipe.output %0 : tensor<8x4xf32>
    }
    ```
  }];
  let arguments = (ins I64Attr:$index, DefaultValuedAttr<Pipe_StagePhaseAttr, "::pipec::pipe::StagePhase::forward">:$phase,
    Variadic<Pipe_Tensor>:$inputs);
  let results = (outs Variadic<Pipe_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Pipe_YieldOp : Pipe_Op<"yield", [Terminator, HasParent<"StageOp">, Pure]> {
  let summary = "ends a stage with the values that leave it";
  let description = [{
    The operands are the results of the stage, in their order. A stage may yield nothing.

    ```mlir
    pipe.graph @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = pipe.stage 0 (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
        %1 = pipe.neg %a : (tensor<4xf32>) -> tensor<4xf32>
        pipe.yield %1 : tensor<4xf32>
      }
      pipe.output %0 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Pipe_Tensor>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
}

def Pipe_TransferOp : Pipe_Op<"transfer", [Pure, AllTypesMatch<["value", "result"]>, HasParent<"GraphOp">]> {
  let summary = "sends a value of one stage straight to a later one, or a gradient to an earlier one (PIPE-I7)";
  let description = [{
    The value is a result of stage `from`, the readers are in stage `to`. The result has its type. A `gradient` goes to an earlier stage, everything else to a later one.

    ```mlir
    pipe.graph @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = pipe.stage 0 (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
        %3 = pipe.relu %a : (tensor<4xf32>) -> tensor<4xf32>
        pipe.yield %3 : tensor<4xf32>
      }
      %1 = pipe.transfer %0 from 0 to 1 : tensor<4xf32>
      %2 = pipe.stage 1 (%b = %1 : tensor<4xf32>) -> tensor<4xf32> {
        %3 = pipe.tanh %b : (tensor<4xf32>) -> tensor<4xf32>
        pipe.yield %3 : tensor<4xf32>
      }
      pipe.output %2 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Pipe_Tensor:$value, I64Attr:$from, I64Attr:$to, UnitAttr:$gradient);
  let results = (outs Pipe_Tensor:$result);
  let assemblyFormat = "$value `from` $from `to` $to (`gradient` $gradient^)? attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Pipe_GradientOp : Pipe_Op<"gradient", [HasParent<"GraphOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "one use's contribution to the gradient of a parameter";
  let description = [{
    `site` numbers the uses of the parameter over all stages, in the order of the ops that read it. Contributions are
    summed per site over microbatches, then over sites in ascending order (decision 6). The value has the parameter's shape.

    ```mlir
    pipe.weight @w parameter : tensor<4xf32> from <"m.onnx", 0, 16>
    pipe.graph @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = pipe.stage 0 (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
        %2 = pipe.load_weight @w : tensor<4xf32>
        %3 = pipe.mul %a, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        pipe.yield %3 : tensor<4xf32>
      }
      %1 = pipe.stage 0 backward_weight (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
        pipe.yield %a : tensor<4xf32>
      }
      pipe.gradient %1 of @w site 0 : tensor<4xf32>
      pipe.output %0 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Pipe_FloatTensor:$value, FlatSymbolRefAttr:$weight, I64Attr:$site);
  let assemblyFormat = "$value `of` $weight `site` $site attr-dict `:` type($value)";
}

#endif
