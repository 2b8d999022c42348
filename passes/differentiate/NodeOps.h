// Ops by node, kind and number: the same in graphs of one model for several
// microbatch sizes.
#ifndef PIPEC_PASSES_DIFFERENTIATE_NODEOPS_H
#define PIPEC_PASSES_DIFFERENTIATE_NODEOPS_H

#include "passes/differentiate/BatchLoss.h"

#include "mlir/IR/SymbolTable.h"

#include <map>

namespace pipec::pipe {

class NodeOps {
public:
  explicit NodeOps(GraphOp graph);
  const mlir::SymbolTable &weights() const { return table; }
  /// Null where there is none.
  mlir::Operation *find(const NodeOp &key) const;
  const NodeOp &keyOf(mlir::Operation *op) const;

private:
  mlir::SymbolTable table;
  std::map<NodeOp, mlir::Operation *> ops;
  llvm::DenseMap<mlir::Operation *, NodeOp> keys;
};

/// The number that a constant of one element holds; nothing for others.
std::optional<double> numberOf(mlir::Operation *op);

} // namespace pipec::pipe

#endif // PIPEC_PASSES_DIFFERENTIATE_NODEOPS_H
