// The derivative rules, by kind of op, and how they are attached.
#ifndef PIPEC_PASSES_DIFFERENTIATE_DERIVATIVES_H
#define PIPEC_PASSES_DIFFERENTIATE_DERIVATIVES_H

#include "passes/differentiate/Vjp.h"

#include <type_traits>

namespace pipec::pipe {

/// Attaches VjpInterface to every differentiable op. Once a context, before
/// anything is differentiated.
void registerDerivatives(mlir::MLIRContext &context);

// Each in rules/<Kind>.cpp.
void registerUnaryDerivatives(mlir::MLIRContext &context);
void registerBinaryDerivatives(mlir::MLIRContext &context);
void registerReduceDerivatives(mlir::MLIRContext &context);
void registerShapeDerivatives(mlir::MLIRContext &context);
void registerIndexDerivatives(mlir::MLIRContext &context);
void registerLinearDerivatives(mlir::MLIRContext &context);
void registerNormDerivatives(mlir::MLIRContext &context);
void registerAttentionDerivatives(mlir::MLIRContext &context);

namespace detail {
template <typename OpT, typename R> OpT opOf(R (*)(OpT, Vjp &));

template <typename OpT, auto Rule>
struct Derivative : VjpInterface::ExternalModel<Derivative<OpT, Rule>, OpT> {
  mlir::LogicalResult buildVjp(mlir::Operation *op, Vjp &vjp) const {
    using R = decltype(Rule(mlir::cast<OpT>(op), vjp));
    if constexpr (std::is_void_v<R>) {
      Rule(mlir::cast<OpT>(op), vjp);
      return mlir::success();
    } else {
      return Rule(mlir::cast<OpT>(op), vjp);
    }
  }
};
} // namespace detail

/// `Rule`: void or LogicalResult (OpT, Vjp &).
template <auto Rule> void derive(mlir::MLIRContext &context) {
  using OpT = decltype(detail::opOf(Rule));
  OpT::template attachInterface<detail::Derivative<OpT, Rule>>(context);
}

} // namespace pipec::pipe

#endif // PIPEC_PASSES_DIFFERENTIATE_DERIVATIVES_H
