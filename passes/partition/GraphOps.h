// The tensor ops of a graph as partitioning sees them: in file order, each
// with its place in the model file, its module path and its cost.
#ifndef PIPEC_PASSES_PARTITION_GRAPHOPS_H
#define PIPEC_PASSES_PARTITION_GRAPHOPS_H

#include "ir/PipeOps.h"
#include "runtime/base/op.h"

#include <string>
#include <vector>

namespace pipec::pipe {

/// A tensor op that belongs to a stage.
struct GraphNode {
  mlir::Operation *op = nullptr;
  Origin origin;      // origin.index is its position in the import walk
  double seconds = 0; // estimated, for one microbatch
  /// Only the stages that read it make it, each by itself (or it is gone at
  /// another microbatch size): a stage that holds nothing else is empty.
  bool isRepeated = false;
  /// It depends on weights alone, and has the place of its first reader.
  bool isOfWeights = false;
};

/// Constants, weight references and iotas: made again in every stage that
/// reads them, so they belong to none.
bool isPlaceless(mlir::Operation *op);

/// All others but the terminator, by place. Ops without an origin take the
/// index of the op before them, and ops that depend on weights alone that of
/// their first reader.
std::vector<GraphNode> collectGraphNodes(GraphOp graph);

/// Moves ops that depend on weights alone in front of their first readers, so
/// that ops stand in the order of their places, for every cut alike: gradients
/// are summed in that order.
void moveToReaders(llvm::ArrayRef<GraphNode> nodes);

/// Whether `path` is `prefix` or lies below it. The empty prefix is the root,
/// which holds everything.
bool isInModule(llvm::StringRef path, llvm::StringRef prefix);

/// Bytes of one value.
int64_t valueBytes(mlir::Value value);

/// Says for each op whether stages repeat it instead of receiving its results:
/// it reads only constants and integer or boolean graph inputs (so no gradient
/// ever passes), through cheap ops, and repeating the whole chain behind it
/// moves little more memory than receiving its result would. Masks and position
/// tables are of this kind.
class Replication {
public:
  explicit Replication(GraphOp graph);
  bool isReplicable(mlir::Operation *op) const {
    return replicable.contains(op);
  }

private:
  llvm::DenseSet<mlir::Operation *> replicable;
};

} // namespace pipec::pipe

#endif // PIPEC_PASSES_PARTITION_GRAPHOPS_H
