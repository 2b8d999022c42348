// `pipe-partition-annotate`: from split points or a number of stages to a stage
// index on every op. Tests: test/passes/partition/annotate.mlir,
// annotate-invalid.mlir.
#include "passes/partition/Passes.h"

namespace pipec::pipe {

#define GEN_PASS_DEF_PARTITIONANNOTATE
#include "passes/partition/Passes.h.inc"

using namespace mlir;

GraphOp findGraph(ModuleOp module) {
  auto graphs = module.getOps<GraphOp>();
  return graphs.empty() ? GraphOp() : *graphs.begin();
}

void annotateStages(GraphOp graph, const PartitionPlan &plan) {
  Builder builder(graph.getContext());
  const std::vector<GraphNode> nodes = collectGraphNodes(graph);
  moveToReaders(nodes);
  for (const GraphNode &node : nodes)
    node.op->setAttr(
        PipeDialect::kStageIndexAttr,
        builder.getI64IntegerAttr(plan.stageOf(node.origin.index)));
}

namespace {

struct PartitionAnnotatePass
    : impl::PartitionAnnotateBase<PartitionAnnotatePass> {
  using PartitionAnnotateBase::PartitionAnnotateBase;

  StatusOr<PartitionPlan> makePlan(GraphOp graph,
                                   const std::vector<GraphNode> &nodes) {
    if (!splits.empty())
      return planFromSplits(nodes, splits);
    if (positions.empty())
      return planBalanced(graph, nodes, stages);
    std::vector<Cut> cuts;
    for (int64_t position : positions)
      cuts.push_back({position, "position " + std::to_string(position)});
    PartitionPlan plan = planFromCuts(std::move(cuts), nodes);
    PIPEC_RETURN_IF_ERROR(plan.verify(nodes));
    return plan;
  }

  void runOnOperation() override {
    GraphOp graph = findGraph(getOperation());
    if (!graph)
      return;
    StatusOr<PartitionPlan> plan = makePlan(graph, collectGraphNodes(graph));
    if (!plan.ok()) {
      graph.emitOpError() << plan.status().message();
      return signalPassFailure();
    }
    annotateStages(graph, *plan);
  }
};

} // namespace
} // namespace pipec::pipe
