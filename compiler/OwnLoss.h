// A loss that the model computes itself, over all microbatch sizes: what
// passes/differentiate/BatchLoss.h sees in one of them, held for the others.
#ifndef PIPEC_COMPILER_OWNLOSS_H
#define PIPEC_COMPILER_OWNLOSS_H

#include "compiler/Microbatches.h"
#include "passes/differentiate/BatchLoss.h"

namespace pipec {

class OwnLoss {
public:
  /// The graph of a microbatch size as the frontend makes it.
  using Importer = std::function<StatusOr<mlir::OwningOpRef<mlir::ModuleOp>>(
      const VariantShapes &)>;

  /// Imports the model for the largest microbatch and for `batchRows` rows, the
  /// whole batch's, and looks at output `name` (empty: the only one).
  /// `takesTotals`: see pipe::findBatchLoss.
  OwnLoss(const std::vector<VariantShapes> &variants, int64_t batchRows,
          const std::string &name, const frontend::ModelInterface &model,
          const CompileOptions &options, const Importer &import,
          bool takesTotals = true);

  /// Whether it is a mean over rows; see pipe::BatchLoss.
  bool isRowMean() const { return adds() && loss.isRowMean; }
  bool isSum() const { return adds() && loss.isSum; }
  /// Whether the losses of microbatches add up to the whole batch's, once each
  /// has been through apply().
  bool adds() const { return looked && loss.isSeen(); }
  /// "ReduceMax node_max (net, net.py:3) combines ..": why they do not.
  const std::string &whyNot() const { return why; }

  /// To an imported module of a microbatch size; where adds(). Returns what
  /// makes the parts of the totals; null: there are none.
  StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> apply(mlir::ModuleOp module,
                                                    int64_t rows) const;

private:
  bool isSameIn(pipe::GraphOp graph, int64_t rows, unsigned at,
                pipe::GraphOp whole) const;
  mlir::OwningOpRef<mlir::ModuleOp> looked;
  int64_t lookedRows = 0;
  bool takesTotals;
  std::string output, why;
  pipe::BatchLoss loss;
};

} // namespace pipec

#endif // PIPEC_COMPILER_OWNLOSS_H
