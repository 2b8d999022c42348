// The derivative of an op as an interface.
#ifndef PIPEC_PASSES_DIFFERENTIATE_VJPINTERFACE_TD
#define PIPEC_PASSES_DIFFERENTIATE_VJPINTERFACE_TD

include "mlir/IR/OpBase.td"

def Pipe_VjpInterface : OpInterface<"VjpInterface"> {
  let cppNamespace = "::pipec::pipe";
  let description = [{
    The vector-Jacobian product of a tensor op: from the gradients of its results to those of its operands. Attached to
    the ops by `registerDerivatives` (passes/differentiate/Derivatives.h), so that the dialect does not depend on it.
    An op without it is not differentiable: its results end the gradient.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the ops of the VJP. `vjp` gives the gradients of the results, says which operands need one and takes them
        (passes/differentiate/Vjp.h). Fails, with an error at the op, where the derivative is not implemented
        for the op's attributes.
      }], "::llvm::LogicalResult", "buildVjp", (ins "::pipec::pipe::Vjp &":$vjp)>,
  ];
}

#endif
