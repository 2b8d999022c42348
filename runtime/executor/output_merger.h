// Joins the outputs of the microbatches to the whole batch's.
#ifndef PIPEC_RUNTIME_EXECUTOR_OUTPUT_MERGER_H
#define PIPEC_RUNTIME_EXECUTOR_OUTPUT_MERGER_H

#include "runtime/executor/batch_plan.h"

namespace pipec {

/// One graph output of one run. Thread rule: externally synchronised.
class OutputMerger {
public:
  /// Checks that the output can be merged and allocates the result: nothing is
  /// allocated later. InvalidArgument names the output and what to pass as
  /// --merge.
  static StatusOr<OutputMerger> create(const OutputInfo &info,
                                       const BatchPlan &plan);

  /// The next microbatch's value, in ascending order; host memory of its type.
  Status add(const void *data);
  /// The whole batch's value; call after the last add().
  Tensor finish();
  /// Type of microbatch `k`.
  const TensorType &typeOf(int64_t k) const {
    return info->types[plan->microbatches[k].variant];
  }

private:
  void weighRows();

  const OutputInfo *info = nullptr;
  const BatchPlan *plan = nullptr;
  Tensor result;
  std::vector<float> wide;      // sums of f16 and bf16
  std::vector<int64_t> weights; // of a mean over uneven microbatches: rows
  int64_t added = 0;
  size_t offset = 0; // of the next piece, in bytes
};

} // namespace pipec

#endif
