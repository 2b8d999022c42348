// A first estimate of how long an op takes: the roofline over the op's own
// flops and bytes. Partitioning compares stages by it; only ratios matter.
#ifndef PIPEC_PASSES_PARTITION_COSTMODEL_H
#define PIPEC_PASSES_PARTITION_COSTMODEL_H

#include "mlir/IR/Operation.h"

namespace pipec::pipe {

/// What one worker can do. The defaults are one core of a current x86 server.
struct MachineModel {
  double flopsPerSecond = 1e11;
  double bytesPerSecond = 1e10;
  double secondsPerOp = 1e-6; // the call itself
};

/// max(flops / peak, bytes / bandwidth) + the call; 0 for ops without a cost.
double estimateSeconds(mlir::Operation *op, const MachineModel &machine = {});

} // namespace pipec::pipe

#endif // PIPEC_PASSES_PARTITION_COSTMODEL_H
