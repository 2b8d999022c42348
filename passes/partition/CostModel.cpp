// The roofline estimate behind automatic cuts.
// Tests: test/unit/passes/partition/CostModelTest.cpp.
#include "passes/partition/CostModel.h"

#include "ir/PipeOps.h"

#include <algorithm>

namespace pipec::pipe {

double estimateSeconds(mlir::Operation *op, const MachineModel &machine) {
  auto cost = llvm::dyn_cast<CostInterface>(op);
  if (!cost)
    return 0;
  // A reshape moves nothing: the memory plan gives both values one place.
  if (llvm::isa<ReshapeOp, StopGradientOp>(op))
    return 0;
  double compute =
      static_cast<double>(cost.getFlops()) / machine.flopsPerSecond;
  double memory = static_cast<double>(cost.getBytes()) / machine.bytesPerSecond;
  // A lookup reads the rows it takes, not the table.
  if (auto gather = llvm::dyn_cast<GatherOp>(op)) {
    auto result =
        llvm::cast<mlir::RankedTensorType>(gather.getResult().getType());
    memory = 2.0 * static_cast<double>(result.getNumElements()) *
             result.getElementTypeBitWidth() / 8 / machine.bytesPerSecond;
  }
  return std::max(compute, memory) + machine.secondsPerOp;
}

} // namespace pipec::pipe
