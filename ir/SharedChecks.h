// What pools and resize check together with their gradients.
#ifndef PIPEC_IR_SHAREDCHECKS_H
#define PIPEC_IR_SHAREDCHECKS_H

#include "ir/ShapeInference.h"

namespace pipec::pipe {

/// Result shape of a pool of an input of shape N C *, of rank 3 to 5.
mlir::FailureOr<Shape> inferPoolShape(const Inference &infer, ShapeRef input,
                                      const Window &window);

/// Of a resize from shape `from` to `to`, which have one rank.
mlir::LogicalResult checkResize(const Inference &infer, ShapeRef from,
                                ShapeRef to, llvm::ArrayRef<double> scales,
                                double cubicCoeff);

} // namespace pipec::pipe

#endif // PIPEC_IR_SHAREDCHECKS_H
