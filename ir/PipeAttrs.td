// Attributes of the `pipe` dialect: where bytes lie, where an op comes from.
#ifndef PIPEC_IR_PIPEATTRS_TD
#define PIPEC_IR_PIPEATTRS_TD

include "ir/PipeDialect.td"
include "ir/PipeEnums.td"
include "mlir/IR/AttrTypeBase.td"

class Pipe_Attr<string name, string attrMnemonic> : AttrDef<Pipe_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Pipe_SourceAttr : Pipe_Attr<"Source", "source"> {
  let summary = "where the bytes of a weight lie";
  let description = [{
    A range of a file, row-major and little-endian. The array that lies there
    has the shape of the weight with `permutation` undone: weight axis k is
    stored axis `permutation[k]`; an empty permutation means that it lies as it is.

    The file name `@pool` is the compiler's constant pool (ir/ConstantPool.h):
    values folded at compile time, kept out of the IR.

    ```mlir
    #pipe.source<"model.onnx", 4096, 1048576, [1, 0]>
    ```
  }];
  let parameters = (ins StringRefParameter<"file">:$file, "uint64_t":$offset,
    "uint64_t":$length, OptionalArrayRefParameter<"int64_t">:$permutation);
  let assemblyFormat = "`<` $file `,` $offset `,` $length (`,` `[` $permutation^ `]`)? `>`";
}

def Pipe_OriginAttr : Pipe_Attr<"Origin", "origin"> {
  let summary = "the node of the model file that an op comes from";
  let description = [{
    Metadata of the fused location of every op (PIPE-I4). `index` is the
    position of the node in the frontend's walk over the model: ascending in the
    order of the ops, counted by the frontend, and not to be looked up in a file,
    which may hold several graphs. Cuts are made between such positions and
    dropout draws by them, so the walk is the same for every microbatch size.
    In a location it is written `loc(fused<#pipe.origin<..>>["model.py":10:0])`.

    ```mlir
    #pipe.origin<12, "MatMul", "node_linear", "layer0.lin">
    ```
  }];
  let parameters = (ins "int64_t":$index, StringRefParameter<"operator in the file">:$op,
    StringRefParameter<"name of the node">:$node, StringRefParameter<"module path">:$module);
  let assemblyFormat = "`<` $index `,` $op `,` $node `,` $module `>`";
}

#endif
