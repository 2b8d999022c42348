// Collects the tensor ops of a graph and decides which of them stages repeat.
// In: a `pipe.graph` after import. Out: plain data; the graph is not changed.
// Tests: test/passes/partition/outline.mlir (repeated masks),
// test/unit/passes/partition.
#include "passes/partition/GraphOps.h"

#include "ir/OpDescs.h"
#include "passes/partition/CostModel.h"

#include <limits>

using namespace mlir;

namespace pipec::pipe {

bool isPlaceless(Operation *op) {
  return isa<ConstantOp, LoadWeightOp, IotaOp>(op);
}

/// Takes the place of its first reader, and its weights along: a table that a
/// head transposes crosses no cut.
static void placeAtReaders(std::vector<GraphNode> &nodes,
                           Operation *terminator) {
  llvm::DenseMap<Operation *, int64_t> place;
  for (GraphNode &node : llvm::reverse(nodes)) {
    if (node.isOfWeights) {
      int64_t first = std::numeric_limits<int64_t>::max();
      for (Operation *user : node.op->getUsers())
        first = std::min(first, user == terminator ? node.origin.index
                                                   : place.lookup(user));
      node.origin.index = first;
    }
    place[node.op] = node.origin.index;
  }
  llvm::stable_sort(nodes, [](const GraphNode &a, const GraphNode &b) {
    return a.origin.index < b.origin.index;
  });
}

void moveToReaders(llvm::ArrayRef<GraphNode> nodes) {
  for (const GraphNode &node : llvm::reverse(nodes)) {
    if (!node.isOfWeights)
      continue;
    Operation *first = *node.op->getUsers().begin();
    for (Operation *user : node.op->getUsers())
      if (user->isBeforeInBlock(first))
        first = user;
    node.op->moveBefore(first);
  }
}

std::vector<GraphNode> collectGraphNodes(GraphOp graph) {
  std::vector<GraphNode> nodes;
  Replication replication(graph);
  Operation *terminator = graph.getBody().front().getTerminator();
  llvm::DenseSet<Operation *> ofWeights;
  int64_t last = 0;
  for (Operation &op : graph.getBody().front().without_terminator()) {
    if (isPlaceless(&op))
      continue;
    GraphNode node;
    node.op = &op;
    node.origin = originOf(op.getLoc());
    if (node.origin.index < last)
      node.origin.index = last;
    last = node.origin.index;
    node.seconds = estimateSeconds(&op);
    node.isRepeated = replication.isReplicable(&op) &&
                      !llvm::is_contained(op.getUsers(), terminator);
    if (llvm::all_of(op.getOperands(), [&](Value operand) {
          Operation *def = operand.getDefiningOp();
          return def && (isPlaceless(def) || ofWeights.contains(def));
        }))
      ofWeights.insert(&op);
    node.isOfWeights = ofWeights.contains(&op) && !op.use_empty() &&
                       !replication.isReplicable(&op);
    nodes.push_back(std::move(node));
  }
  placeAtReaders(nodes, terminator);
  return nodes;
}

bool isInModule(llvm::StringRef path, llvm::StringRef prefix) {
  if (prefix.empty())
    return true;
  return path.starts_with(prefix) &&
         (path.size() == prefix.size() || path[prefix.size()] == '.');
}

int64_t valueBytes(Value value) {
  return static_cast<int64_t>(toTensorType(value.getType()).byteSize());
}

namespace {

/// What repeating an op costs: bytes moved by it and all that it depends on.
/// Counts a shared ancestor once per path, which only makes us more careful.
struct ChainCost {
  int64_t bytes = 0;
};

constexpr int64_t kFreeBytes = 64 * 1024;
constexpr int64_t kRepeatFactor = 8;

bool isCheapKind(Operation *op) {
  return !isa<DotGeneralOp, ConvolutionOp, ConvTransposeOp, AttentionOp,
              DropoutOp, ResizeOp, TopKOp, StageOp, TransferOp>(op);
}

/// Of a pool constant, which is small, or one that lies in the model file: each
/// stage that reads it has a copy. None for a parameter or buffer.
std::optional<ChainCost> costOfConstant(LoadWeightOp load,
                                        const SymbolTable &weights) {
  if (constantTensor(load, weights))
    return ChainCost{};
  auto weight = weights.lookup<WeightOp>(load.getWeight());
  if (!weight || weight.getKind() != WeightKind::constant)
    return std::nullopt;
  return ChainCost{valueBytes(load.getResult())};
}

} // namespace

Replication::Replication(GraphOp graph) {
  llvm::DenseMap<Operation *, ChainCost> chains;
  const SymbolTable weights(graph->getParentOfType<ModuleOp>());
  auto chainOf = [&](Value operand) -> std::optional<ChainCost> {
    if (auto argument = dyn_cast<BlockArgument>(operand)) {
      auto type = cast<RankedTensorType>(argument.getType());
      if (isa<FloatType>(type.getElementType()))
        return std::nullopt;
      return ChainCost{};
    }
    Operation *def = operand.getDefiningOp();
    if (isa<ConstantOp, IotaOp>(def))
      return ChainCost{};
    if (auto load = dyn_cast<LoadWeightOp>(def))
      return costOfConstant(load, weights);
    auto found = chains.find(def);
    return found == chains.end() ? std::nullopt : std::optional(found->second);
  };
  for (Operation &op : graph.getBody().front().without_terminator()) {
    if (isPlaceless(&op) || !isCheapKind(&op))
      continue;
    auto cost = dyn_cast<CostInterface>(&op);
    ChainCost chain{cost ? cost.getBytes() : 0};
    int64_t results = 0;
    for (Value result : op.getResults())
      results += valueBytes(result);
    bool eligible = true;
    for (Value operand : op.getOperands()) {
      std::optional<ChainCost> part = chainOf(operand);
      eligible &= part.has_value();
      chain.bytes += part ? part->bytes : 0;
    }
    if (!eligible || chain.bytes > kFreeBytes + kRepeatFactor * results)
      continue;
    chains[&op] = chain;
    replicable.insert(&op);
  }
}

} // namespace pipec::pipe
