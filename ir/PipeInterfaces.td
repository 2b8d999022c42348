// Op interfaces of the `pipe` dialect.
#ifndef PIPEC_IR_PIPEINTERFACES_TD
#define PIPEC_IR_PIPEINTERFACES_TD

include "mlir/IR/OpBase.td"

def Pipe_CostInterface : OpInterface<"CostInterface"> {
  let cppNamespace = "::pipec::pipe";
  let description = [{
    What an op costs, from its types alone. The cost model (passes/partition/CostModel.h)
    turns this into time; partitioning compares stages by it.
  }];
  let methods = [
    InterfaceMethod<[{
        Floating-point (or integer) operations: a multiply-add counts as two,
        a transcendental function as `kTranscendentalFlops`. 0 for pure data movement.
      }], "int64_t", "getFlops", (ins), "", [{
        return ::pipec::pipe::elementwiseFlops($_op.getOperation(), 1);
      }]>,
    InterfaceMethod<"Bytes read and written, each operand and result once.",
      "int64_t", "getBytes", (ins), "", [{
        return ::pipec::pipe::operandAndResultBytes($_op.getOperation());
      }]>,
  ];
}

#endif
