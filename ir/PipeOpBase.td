// Base classes of the tensor ops. Each <Kind>Ops.td includes this file and no
// other <Kind>Ops.td, so that tablegen makes a small file of each.
#ifndef PIPEC_IR_PIPEOPBASE_TD
#define PIPEC_IR_PIPEOPBASE_TD

include "ir/PipeAttrs.td"
include "ir/PipeInterfaces.td"
include "ir/PipeTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// Verifies result types against what inference says, with one error (PIPE-I6).
def Pipe_InferredTypes : NativeOpTrait<"InferredTypes"> {
  let cppNamespace = "::pipec::pipe";
}

// getFlops is in the C++ file of the kind; else one flop an element.
defvar Pipe_OwnCost = DeclareOpInterfaceMethods<Pipe_CostInterface, ["getFlops"]>;

class Pipe_TensorOp<string mnemonic, list<Trait> traits = []>
    : Pipe_Op<mnemonic, !listconcat([Pure, Pipe_InferredTypes, InferTypeOpAdaptor], traits)>;

// Moves data: no flops.
class Pipe_MoveOp<string mnemonic> : Pipe_TensorOp<mnemonic, [Pipe_OwnCost]>;

// Costs more than a flop an element.
class Pipe_CostlyOp<string mnemonic, list<Trait> traits = []>
    : Pipe_TensorOp<mnemonic, !listconcat([Pipe_OwnCost], traits)>;

#endif
