// The import phase as one pipeline, and its registration.
// In: what a frontend made. Out: what passes/partition expects.
// Tests: test/passes/import/pipeline.mlir,
// test/unit/passes/import/ImportPipelineTest.cpp.
#include "passes/import/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace pipec::pipe {

namespace {
struct ImportPipelineFlags : PassPipelineOptions<ImportPipelineFlags> {
  Option<uint64_t> maxBytes{
      *this, "max-bytes",
      llvm::cl::desc("Most bytes that the results of a folded op may have"),
      llvm::cl::init(ImportPipelineOptions().maxFoldBytes)};
  Option<bool> requireOrigin{
      *this, "require-origin",
      llvm::cl::desc("Whether every tensor op must carry a #pipe.origin"),
      llvm::cl::init(ImportPipelineOptions().requireOrigin)};
  Option<bool> training{
      *this, "training",
      llvm::cl::desc("Keep dropout and train batch normalisation")};
};
} // namespace

void buildImportPipeline(OpPassManager &pm,
                         const ImportPipelineOptions &options) {
  FoldConstantsOptions constants;
  constants.maxBytes = options.maxFoldBytes;
  VerifyCoreOptions gate;
  gate.requireOrigin = options.requireOrigin;

  // First: dropout has no kernel, so a constant behind one would not fold.
  if (!options.training)
    pm.addPass(createDropDropout());
  // Before constants: shorter chains, and fewer values to compute.
  pm.addPass(createFoldIdentities());
  pm.addPass(createFoldConstants(constants));
  // Again: a condition or an addend may only now be a literal.
  pm.addPass(createFoldIdentities());
  // Again: what such a select leaves may be a constant in turn.
  pm.addPass(createFoldConstants(constants));
  // After all folding, which leaves the replaced operands behind.
  pm.addPass(createRemoveDead());
  // After folding: what is added here reads inputs and buffers, and the
  // results that training adds keep it alive.
  if (options.training) {
    // Before the cut, which may fall between a sum and its root.
    pm.addPass(createFlattenRoots());
    pm.addPass(createSeedDropout());
    BatchNormTrainingOptions norms;
    norms.rows = options.microbatchRows;
    if (options.batchNormTraining)
      pm.addPass(createBatchNormTraining(norms));
  }
  // Last: the gate to partitioning.
  pm.addPass(createVerifyCore(gate));
}

void registerImportPipeline() {
  PassPipelineRegistration<ImportPipelineFlags>(
      "pipe-import", "The whole import phase",
      [](OpPassManager &pm, const ImportPipelineFlags &flags) {
        ImportPipelineOptions options;
        options.maxFoldBytes = flags.maxBytes;
        options.requireOrigin = flags.requireOrigin;
        options.training = flags.training;
        buildImportPipeline(pm, options);
      });
}

} // namespace pipec::pipe
