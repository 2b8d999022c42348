// The trait of tensor ops whose result types are inferred: verifies the
// declared types against the inferred ones and reports one error (PIPE-I6).
//
// The check that comes with InferTypeOpInterface would add a second error
// ("failed to infer returned types") to the one of the inference; this trait
// stands before it, and a failing trait ends verification.
#ifndef PIPEC_IR_INFERREDTYPES_H
#define PIPEC_IR_INFERREDTYPES_H

#include "mlir/IR/OpDefinition.h"

namespace pipec::pipe {

mlir::LogicalResult verifyInferredTypes(mlir::Operation *op);

template <typename ConcreteType>
class InferredTypes
    : public mlir::OpTrait::TraitBase<ConcreteType, InferredTypes> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) {
    return verifyInferredTypes(op);
  }
};

} // namespace pipec::pipe

#endif // PIPEC_IR_INFERREDTYPES_H
