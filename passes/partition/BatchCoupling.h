// Ops that mix the rows of a batch: cut into microbatches, such a model
// computes other numbers than on the whole batch.
//
// The analysis follows the batch dimension (dimension 0 of every graph input
// that is cut) from the inputs to the outputs. It tells what is certain only:
// where it loses track of the rows, it says nothing of what follows.
#ifndef PIPEC_PASSES_PARTITION_BATCHCOUPLING_H
#define PIPEC_PASSES_PARTITION_BATCHCOUPLING_H

#include "ir/PipeOps.h"

namespace pipec::pipe {

/// How an output's microbatches become the batch's.
enum class RowJoin {
  none,   // they do not: refused before anything runs, or equal in all
  concat, // one behind the other
  sum,
  mean,
};

/// An op that mixes rows, in a way that reaches an output.
struct BatchMix {
  mlir::Operation *op = nullptr;
  llvm::StringLiteral what{""}; // "reduces over the batch"
};

/// In the order of the ops, each op once; a reduction of what is mixed already
/// is not named again. `joinOf`: by the graph's result.
/// `graph` is imported and not yet cut. Statistics of a BatchNormalization in
/// training mode are left out: whoever asks for them is told in other words.
/// Nothing is found where the microbatch has one row, which leaves no trace of
/// the batch dimension.
std::vector<BatchMix>
findBatchMixes(GraphOp graph, llvm::function_ref<RowJoin(unsigned)> joinOf);

} // namespace pipec::pipe

#endif // PIPEC_PASSES_PARTITION_BATCHCOUPLING_H
