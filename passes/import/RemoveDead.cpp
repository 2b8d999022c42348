// pipe-import-remove-dead: ops and constant weights that nothing reads.
// In: a module. Out: the same without them.
// Tests: test/passes/import/remove-dead.mlir.
#include "ir/PipelineOps.h"
#include "passes/import/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace pipec::pipe {

#define GEN_PASS_DEF_REMOVEDEAD
#include "passes/import/Passes.h.inc"

namespace {

class RemoveDead : public impl::RemoveDeadBase<RemoveDead> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (GraphOp graph : module.getOps<GraphOp>())
      for (Operation &op :
           llvm::make_early_inc_range(llvm::reverse(graph.getBody().front())))
        if (isOpTriviallyDead(&op))
          op.erase();

    llvm::DenseSet<StringAttr> loaded;
    module.walk([&](LoadWeightOp load) {
      loaded.insert(load.getWeightAttr().getAttr());
    });
    for (WeightOp weight :
         llvm::make_early_inc_range(module.getOps<WeightOp>()))
      if (weight.getKind() == WeightKind::constant &&
          !loaded.contains(weight.getSymNameAttr()))
        weight.erase();
  }
};

} // namespace
} // namespace pipec::pipe
