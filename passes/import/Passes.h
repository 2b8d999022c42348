// The import phase: passes and their pipeline. What each pass does is in
// Passes.td.
#ifndef PIPEC_PASSES_IMPORT_PASSES_H
#define PIPEC_PASSES_IMPORT_PASSES_H

#include "ir/PipeDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <cstdint>

namespace pipec::pipe {

#define GEN_PASS_DECL
#include "passes/import/Passes.h.inc"

// Declares registerPipecImportPasses().
#define GEN_PASS_REGISTRATION
#include "passes/import/Passes.h.inc"

class BatchNormOp;
class LoadWeightOp;

/// The load of the weight that a statistic of a batch_norm is, or repeats for
/// each image; null where it is computed or a constant of another form.
LoadWeightOp loadOfStatistic(mlir::Value statistic);
/// Whether the op is instance normalisation with running statistics, as
/// exporters write it: the images' channels side by side, as those of one.
bool isInstanceNorm(BatchNormOp op);

struct ImportPipelineOptions {
  /// Most bytes that the results of an op folded at compile time may have.
  uint64_t maxFoldBytes = uint64_t(1) << 20;
  /// Whether every tensor op must carry a `#pipe.origin`.
  bool requireOrigin = true;
  /// Dropout stays, with a key; else inference drops it.
  bool training = false;
  /// With `training`: batch normalisation uses each microbatch's statistics.
  bool batchNormTraining = true;
  /// Of the microbatch, for messages; 0: nothing is said of them.
  int64_t microbatchRows = 0;
};

/// The whole phase, ending in its gate. For an op pass manager on ModuleOp.
void buildImportPipeline(mlir::OpPassManager &pm,
                         const ImportPipelineOptions &options = {});

/// Makes the phase known to tools as `pipe-import`.
void registerImportPipeline();

} // namespace pipec::pipe

#endif // PIPEC_PASSES_IMPORT_PASSES_H
