// pipe-import-verify-core: the gate between import and partitioning.
// In: a module. Out: the same module, or an error at each thing that does not
// belong in it.
// Tests: test/passes/import/verify-core.mlir, verify-core-invalid.mlir.
#include "ir/OpDescs.h"
#include "ir/PipeOps.h"
#include "passes/import/Passes.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace pipec::pipe {

#define GEN_PASS_DEF_VERIFYCORE
#include "passes/import/Passes.h.inc"

static LogicalResult verifyGraphOp(Operation &op, bool requireOrigin) {
  if (auto dropout = dyn_cast<DropoutOp>(op); dropout && !dropout.getKey())
    return op.emitOpError("is not expected after import; run "
                          "pipe-import-drop-dropout or, to train, "
                          "pipe-import-seed-dropout before the gate");
  if (isa<ConstantOp, LoadWeightOp, OutputOp>(op))
    return success();
  if (!isa<CostInterface>(op))
    return op.emitOpError("is not expected in a graph after import, only "
                          "tensor ops of the pipe dialect are");
  if (requireOrigin && originOf(op.getLoc()).index < 0)
    return op.emitOpError(
        "has no origin: its location holds no #pipe.origin, so reports and "
        "splits could not name it");
  return success();
}

namespace {

class VerifyCore : public impl::VerifyCoreBase<VerifyCore> {
public:
  using VerifyCoreBase::VerifyCoreBase;

private:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    bool valid = true;
    for (Operation &op : *module.getBody()) {
      if (isa<GraphOp, WeightOp>(op))
        continue;
      op.emitOpError("is not expected in a module after import, only "
                     "'pipe.graph' and 'pipe.weight' are");
      valid = false;
    }
    auto graphs = module.getOps<GraphOp>();
    if (int64_t count = llvm::range_size(graphs); count != 1) {
      module.emitError("expected one 'pipe.graph', got ") << count;
      valid = false;
    }
    for (GraphOp graph : graphs)
      for (Operation &op : graph.getBody().front())
        valid &= succeeded(verifyGraphOp(op, requireOrigin));
    if (!valid)
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace pipec::pipe
