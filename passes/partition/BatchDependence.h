// How one value depends on the rows of the batch, and what each op makes of it:
// the rules behind BatchCoupling.h.
#ifndef PIPEC_PASSES_PARTITION_BATCHDEPENDENCE_H
#define PIPEC_PASSES_PARTITION_BATCHDEPENDENCE_H

#include "passes/partition/BatchCoupling.h"

namespace pipec::pipe {

/// What a value has of the batch. Nothing set: it is the same in every
/// microbatch.
struct BatchDependence {
  /// The rows lie along this dimension, each with as many neighbours as the
  /// dimension has elements over rows; -1: along none.
  int64_t dim = -1;
  /// All rows combined to one. `scaled`: a sum or mean times a constant.
  enum class Combination { none, sum, mean, scaled, other };
  Combination combination = Combination::none;
  /// Which op combined them.
  BatchMix combiner;
  /// Which ops mixed them for good: no join gives the whole batch's numbers.
  /// Each op once.
  llvm::SmallVector<BatchMix, 1> mixed;
  /// It depends on the batch in a way that is not followed.
  bool lost = false;
  /// Rows that met what is not followed, such as a count of the batch that they
  /// are divided by: their sum may be a mean.
  bool weighed = false;
  /// Made of integers and booleans alone. Counts, positions and masks are mixed
  /// over the batch by models whose results do not depend on it (experts that
  /// sort their tokens, say), so that they are never held against one.
  bool counts = false;
  /// The same in every microbatch, but of weights: no count once they are in.
  bool learned = false;

  bool hasRows() const { return dim >= 0; }
  bool isCombined() const { return combination != Combination::none; }
  bool isMixed() const { return !mixed.empty(); }
  void addMixes(llvm::ArrayRef<BatchMix> mixes) {
    for (const BatchMix &mix : mixes)
      if (llvm::none_of(mixed,
                        [&](const BatchMix &m) { return m.op == mix.op; }))
        mixed.push_back(mix);
  }
  bool isWhole() const {
    return !hasRows() && !isCombined() && !isMixed() && !lost;
  }
};

/// Rows of a microbatch: of the first input that is cut; 0 where none is.
int64_t rowsOf(GraphOp graph);

/// The dependence of a tensor op's results, all alike. `of` gives that of the
/// operands; `rows`: of the microbatch, 2 or more.
BatchDependence
dependenceOf(mlir::Operation *op, int64_t rows,
             llvm::function_ref<BatchDependence(mlir::Value)> of);

} // namespace pipec::pipe

#endif // PIPEC_PASSES_PARTITION_BATCHDEPENDENCE_H
