// pipe-import-seed-dropout: training's dropout reads its random numbers from a
// key. In: a module with dropout ops. Out: each has the graph's key and its own
// stream. Tests: test/passes/import/seed-dropout.mlir.
#include "ir/GraphBoundary.h"
#include "ir/NormOps.h"
#include "ir/OpDescs.h"
#include "passes/import/Passes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace pipec::pipe {

#define GEN_PASS_DEF_SEEDDROPOUT
#include "passes/import/Passes.h.inc"

namespace {

class SeedDropout : public impl::SeedDropoutBase<SeedDropout> {
  void runOnOperation() override {
    for (GraphOp graph : getOperation().getOps<GraphOp>())
      seed(graph);
  }

  static void seed(GraphOp graph) {
    llvm::SmallVector<DropoutOp> dropouts;
    llvm::DenseSet<int64_t> taken;
    graph.walk([&](DropoutOp op) {
      if (!op.getKey())
        dropouts.push_back(op);
      else
        taken.insert(op.getStream());
    });
    if (dropouts.empty())
      return;
    constexpr int64_t kKeyWords = 3; // seed, step, microbatch
    Builder builder(graph.getContext());
    Value key =
        addInput(graph, "random_key",
                 RankedTensorType::get({kKeyWords}, builder.getI64Type()),
                 "random_key", /*whole=*/true);
    // The position in the import walk; ops without one follow behind.
    int64_t next = 0;
    for (DropoutOp op : dropouts) {
      int64_t stream = std::max<int64_t>(originOf(op.getLoc()).index, next);
      while (!taken.insert(stream).second)
        ++stream;
      op.getKeyMutable().assign(key);
      op.setStream(stream);
      next = stream + 1;
    }
  }
};

} // namespace
} // namespace pipec::pipe
