// pipe-import-fold-identities: one sweep of the ops' own folders, in order.
//
// MLIR's canonicalizer is not used: it moves constants to the front of the
// graph, merges them and drops their locations (PIPE-I3, PIPE-I4).
// In: a module. Out: ops that restate a value are gone.
// Tests: test/passes/import/fold-identities.mlir.
#include "ir/PipelineOps.h"
#include "ir/ShapeOps.h"
#include "passes/import/Passes.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace pipec::pipe {

#define GEN_PASS_DEF_FOLDIDENTITIES
#include "passes/import/Passes.h.inc"

// Folds `op` until nothing changes; true where it gave way to other values.
static bool foldOp(Operation *op) {
  SmallVector<OpFoldResult> folded;
  // Folders that change an op in place shorten a chain of producers each time.
  while (folded.empty())
    if (failed(op->fold(folded)))
      return false;
  SmallVector<Value> values;
  for (OpFoldResult result : folded) {
    auto value = dyn_cast<Value>(result);
    if (!value || value.getDefiningOp() == op)
      return false;
    values.push_back(value);
  }
  op->replaceAllUsesWith(values);
  return true;
}

namespace {

class FoldIdentities : public impl::FoldIdentitiesBase<FoldIdentities> {
  void runOnOperation() override {
    for (GraphOp graph : getOperation().getOps<GraphOp>())
      for (Operation &op : llvm::make_early_inc_range(graph.getBody().front()))
        if (isa<CostInterface>(op) && foldOp(&op)) {
          op.erase();
          ++folded;
        }
  }
};

} // namespace
} // namespace pipec::pipe
