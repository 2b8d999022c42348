// The partition phase: passes, their registration and their pipeline.
#ifndef PIPEC_PASSES_PARTITION_PASSES_H
#define PIPEC_PASSES_PARTITION_PASSES_H

#include "ir/PipeOps.h"
#include "passes/partition/PartitionPlan.h"

#include "mlir/Pass/Pass.h"

namespace pipec::pipe {

#define GEN_PASS_DECL
#include "passes/partition/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/partition/Passes.h.inc"

/// The one graph of a module; null where there is none.
GraphOp findGraph(mlir::ModuleOp module);

/// Sets `pipe.stage_index` on every tensor op of `graph` as `plan` says.
void annotateStages(GraphOp graph, const PartitionPlan &plan);

/// Outline and its gate, for a graph whose ops carry stage indices.
void buildPartitionPipeline(mlir::OpPassManager &manager);

} // namespace pipec::pipe

#endif // PIPEC_PASSES_PARTITION_PASSES_H
