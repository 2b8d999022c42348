// How a whole batch is cut into microbatches, and the checks of what the
// caller passes in.
#ifndef PIPEC_RUNTIME_EXECUTOR_BATCH_PLAN_H
#define PIPEC_RUNTIME_EXECUTOR_BATCH_PLAN_H

#include "runtime/package/package_impl.h"

namespace pipec {

struct Microbatch {
  size_t variant = 0;
  int64_t firstRow = 0; // of the inputs that are cut
  int64_t rows = 0;     // of them; 0 where none is
};

struct BatchPlan {
  std::vector<Microbatch> microbatches;
  int64_t count() const { return static_cast<int64_t>(microbatches.size()); }
};

/// Checks names, dtypes and shapes of `inputs` and cuts them into
/// `microbatches` pieces as torch.tensor_split does (10 rows in 4: 3, 3, 2, 2);
/// 0: as many as the compiled sizes give. Errors are InvalidArgument, with
/// expected, got and what to do.
StatusOr<BatchPlan> planBatch(const Package::Impl &package,
                              const TensorMap &inputs, int64_t microbatches);

/// The same of types alone, before there are tensors.
StatusOr<BatchPlan> planTypes(const Package::Impl &package,
                              const std::map<std::string, TensorType> &inputs,
                              int64_t microbatches);

std::map<std::string, TensorType> typesOf(const TensorMap &tensors);

/// The first of these checks: every input is there, and, with `surplusIsWrong`,
/// nothing else.
Status checkNames(const Package::Impl &package,
                  const std::map<std::string, TensorType> &inputs,
                  bool surplusIsWrong);

/// The number of pieces of `rows` rows whose sizes are all in `compiled`. Of
/// several the one that uses most of the sizes, then the smallest; 0 if none.
int64_t chooseMicrobatches(int64_t rows, const std::vector<int64_t> &compiled);

} // namespace pipec

#endif
