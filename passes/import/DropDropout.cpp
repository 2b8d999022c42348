// pipe-import-drop-dropout: inference keeps every element.
// In: a module with dropout ops. Out: their users read the operands.
// Tests: test/passes/import/drop-dropout.mlir.
#include "ir/NormOps.h"
#include "passes/import/Passes.h"

namespace pipec::pipe {

#define GEN_PASS_DEF_DROPDROPOUT
#include "passes/import/Passes.h.inc"

namespace {

class DropDropout : public impl::DropDropoutBase<DropDropout> {
  void runOnOperation() override {
    getOperation().walk([](DropoutOp dropout) {
      dropout.replaceAllUsesWith(dropout.getOperand());
      dropout.erase();
    });
  }
};

} // namespace
} // namespace pipec::pipe
