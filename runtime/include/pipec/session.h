// Sessions: a package loaded and ready to run, one worker thread a stage.
//
//   auto package = pipec::Package::open("model.pipe");
//   auto session = pipec::Session::create(*package, {});
//   auto outputs = (*session)->run(inputs, {});
#ifndef PIPEC_SESSION_H
#define PIPEC_SESSION_H

#include "pipec/package.h"

#include <functional>

namespace pipec {

struct SessionOptions {
  /// Microbatches that may wait on one transfer before its sender waits.
  int queueCapacity = 2;
  /// Only the plain reference kernels: slow, for checking.
  bool referenceKernels = false;
  /// A NaN or infinity in an op's float result that its float operands did not
  /// have ends the run with NumericError naming stage, microbatch, op and
  /// module.
  bool checkNumerics = false;
  /// Memory limit of all arenas, transfer buffers and copied weights, in bytes;
  /// 0: none. More is ResourceExhausted.
  uint64_t memoryLimit = 0;
};

struct RunOptions {
  /// Pieces of axis 0, cut as torch.tensor_split does. 0: as many as the
  /// compiled microbatch sizes give.
  int64_t microbatches = 0;
  /// Called after each microbatch has left the last stage: (done, total), from
  /// a worker thread.
  std::function<void(int64_t, int64_t)> progress;
};

/// Owns workers, weights and buffers. Thread rule: externally synchronised;
/// run() blocks until all microbatches are through. A failed run() leaves the
/// session usable.
class Session {
public:
  /// Loads every stage's weights (mapped, not copied, where the layout allows),
  /// prepares kernels, plans buffers.
  static StatusOr<std::unique_ptr<Session>>
  create(const Package &package, const SessionOptions &options);
  ~Session();

  /// Whole-batch inputs by name; returns whole-batch outputs by name. Missing,
  /// surplus or mis-shaped inputs are InvalidArgument.
  StatusOr<TensorMap> run(const TensorMap &inputs, const RunOptions &options);

private:
  Session();
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// One stage alone, in the caller's thread: for hosts that hold only some
/// stages, and for debugging. Reads only that stage's program and weights.
/// Thread rule: externally synchronised.
class StageRunner {
public:
  static StatusOr<std::unique_ptr<StageRunner>>
  create(const Package &package, int64_t stage, const SessionOptions &options);
  ~StageRunner();
  /// Inputs of variant `variant` by name: graph inputs, and transferred values
  /// under TransferInfo::value.
  std::vector<std::string> inputNames() const;
  /// One microbatch; returns graph outputs and sent values by name.
  StatusOr<TensorMap> run(const TensorMap &inputs);

private:
  StageRunner();
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace pipec

#endif // PIPEC_SESSION_H
