// A loss that the model computes itself, taken over the whole batch: which of
// its values are sums over rows, and what each microbatch needs of the others
// so that their losses add up to the whole batch's.
//
// A mean is a sum over rows divided by a count that depends on data alone. The
// count is made for every microbatch before the first one runs, by a graph of
// its own, and each then gets the total in place of its own count. A mean over
// the rows themselves is taken times the microbatch's share of the rows.
#ifndef PIPEC_PASSES_DIFFERENTIATE_BATCHLOSS_H
#define PIPEC_PASSES_DIFFERENTIATE_BATCHLOSS_H

#include "ir/PipeOps.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <tuple>
#include <vector>

namespace pipec::pipe {

/// An op by what it has at every size of a microbatch: the node that it is made
/// for, and which of that node's ops of its kind it is.
struct NodeOp {
  int64_t index = -1; // of the node in the model file
  std::string name;   // "pipe.reduce"; "constant" of any
  int64_t ordinal = 0;
  auto tie() const { return std::tie(index, name, ordinal); }
  bool operator<(const NodeOp &o) const { return tie() < o.tie(); }
  bool operator==(const NodeOp &o) const { return tie() == o.tie(); }
};

/// What is to be done to a graph of any microbatch size.
struct BatchLossStep {
  enum class Kind {
    total,        // the op's result becomes its sum over microbatches
    meanTotal,    // the same of a mean over rows
    share,        // the op's result is taken times the share of the rows
    operandShare, // an operand of the op is
    loss,         // the graph's loss is
  };
  Kind kind = Kind::total;
  NodeOp op;
  unsigned operand = 0;
  bool operator==(const BatchLossStep &o) const {
    return kind == o.kind && op == o.op && operand == o.operand;
  }
};

struct BatchLoss {
  std::vector<BatchLossStep> steps; // in the order of the ops
  /// Where the loss is not seen to be such a sum: the op at which it is lost,
  /// in the graph that was looked at, and why ("divides by what ..").
  mlir::Operation *lostAt = nullptr;
  std::string lostBy;
  bool isSeen() const { return lostBy.empty(); }
  /// Whether it is a mean over rows, and nothing else of them: the mean of the
  /// microbatches', weighed by their rows, is the whole batch's.
  bool isRowMean = false;
  /// Whether microbatches' add up to it as they are; where no totals are taken.
  bool isSum = false;
};

/// Looks at output `output` (by its number) of `graph`, as it comes from the
/// frontend, for microbatches of 2 rows or more. `whole`: the same model for
/// the whole batch, or another number of rows, which tells constants that are
/// sizes from those that are not; null where the file allows no other number:
/// constants are then taken for sizes where that would matter. `takesTotals`:
/// whether whoever runs it can count over all microbatches first, as training
/// does. Without, a divisor that depends on the batch is followed where it is
/// the number of rows alone.
BatchLoss findBatchLoss(GraphOp graph, unsigned output, GraphOp whole,
                        bool takesTotals = true);

/// Applies the steps to a module whose graph is as it comes from the frontend,
/// for microbatches of `rows` rows. The totals become inputs of role
/// "loss_total", behind all others. Returns a module with a graph of the inputs
/// that were there before, whose results are what the totals are sums of, in
/// the order of those inputs; null where nothing is summed. Failure: the graph
/// lacks an op of the steps, or a size is none; nothing is changed then.
/// `looked`: rows of the graph that the steps were found in, and that graph.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
applyBatchLoss(mlir::ModuleOp module, const BatchLoss &loss, unsigned output,
               int64_t rows, GraphOp looked, int64_t lookedRows);

} // namespace pipec::pipe

#endif // PIPEC_PASSES_DIFFERENTIATE_BATCHLOSS_H
