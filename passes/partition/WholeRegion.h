// Whether a part of a value is the same for every row of the batch, though the
// whole value is not: the class token that stands in front of each image's
// patches.
// Tests: test/passes/partition/batch-mixes-region.mlir.
#ifndef PIPEC_PASSES_PARTITION_WHOLEREGION_H
#define PIPEC_PASSES_PARTITION_WHOLEREGION_H

#include "passes/partition/BatchDependence.h"

namespace pipec::pipe {

/// Whether all that is read in the end of `slice` is the same in every
/// microbatch. The only readers of a slice, where they take a part of it in
/// turn, are followed. False where that does not show.
bool picksTheSame(SliceOp slice,
                  llvm::function_ref<BatchDependence(mlir::Value)> of);

} // namespace pipec::pipe

#endif // PIPEC_PASSES_PARTITION_WHOLEREGION_H
