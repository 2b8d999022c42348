// `pipe-partition-verify`: the gate behind the partition phase, and the phase's
// pipeline. The ends of a transfer are checked by the ops' own verifiers; here
// stands what takes the whole graph. Tests:
// test/passes/partition/verify-invalid.mlir.
#include "passes/partition/Passes.h"

#include "mlir/Pass/PassManager.h"

namespace pipec::pipe {

#define GEN_PASS_DEF_PARTITIONVERIFY
#include "passes/partition/Passes.h.inc"

using namespace mlir;

namespace {

LogicalResult verifyTransfer(TransferOp transfer,
                             llvm::DenseSet<std::pair<Value, int64_t>> &seen) {
  if (!seen.insert({transfer.getValue(), transfer.getTo()}).second)
    return transfer.emitOpError()
           << "sends a value to stage " << transfer.getTo() << " a second time";
  for (Operation *user : transfer->getUsers()) {
    if (!isa<StageOp>(user))
      return transfer.emitOpError("must be read by a pipe.stage alone");
  }
  if (transfer->use_empty())
    return transfer.emitOpError()
           << "is not read by stage " << transfer.getTo();
  return success();
}

struct PartitionVerifyPass : impl::PartitionVerifyBase<PartitionVerifyPass> {
  LogicalResult verify(GraphOp graph) {
    int64_t next = 0;
    llvm::DenseSet<std::pair<Value, int64_t>> seen;
    for (Operation &op : graph.getBody().front().without_terminator()) {
      if (auto transfer = dyn_cast<TransferOp>(op)) {
        if (failed(verifyTransfer(transfer, seen)))
          return failure();
        continue;
      }
      auto stage = dyn_cast<StageOp>(op);
      if (!stage)
        return op.emitOpError("stands outside of every stage");
      if (static_cast<int64_t>(stage.getIndex()) != next++)
        return stage.emitOpError()
               << "is out of order, expected stage " << next - 1;
    }
    return success();
  }

  void runOnOperation() override {
    if (GraphOp graph = findGraph(getOperation());
        graph && failed(verify(graph)))
      signalPassFailure();
  }
};

} // namespace

void buildPartitionPipeline(OpPassManager &manager) {
  manager.addPass(createPartitionOutline());
  // Right behind the only pass that makes transfers, so a fault is seen where
  // it arose.
  manager.addPass(createPartitionVerify());
}

} // namespace pipec::pipe
