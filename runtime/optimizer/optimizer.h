// Updates parameters from their gradients: SGD, Adam and AdamW.
#ifndef PIPEC_RUNTIME_OPTIMIZER_OPTIMIZER_H
#define PIPEC_RUNTIME_OPTIMIZER_OPTIMIZER_H

#include "pipec/tensor.h"
#include "runtime/optimizer/optimizer_config.h"

#include <set>

namespace pipec {

/// The optimizer of one set of weights, a stage's say, and its state. The
/// results are torch.optim's: each element's operations round in f32 in the
/// order of PyTorch's single-tensor path (without its fused multiply-adds),
/// factors that are the same for all elements are computed in f64 and rounded
/// once.
///
/// Updates are element by element, so nothing depends on how parameters are
/// dealt out to optimizers or threads.
///
/// Thread rule: apply() may run at once for different slots; all else is
/// externally synchronised.
class Optimizer {
public:
  /// The config's own errors.
  static StatusOr<Optimizer> create(const OptimizerConfig &config);

  /// Takes in a parameter and allocates its state, all zeros; returns its slot,
  /// counted from 0. `name` is the one its state is saved under. Unsupported
  /// for dtypes other than f32 (a frozen parameter need not be added);
  /// InvalidArgument for a name that is taken; ResourceExhausted.
  StatusOr<size_t> add(const std::string &name, const TensorType &type);

  /// One update in place. `parameter` and `gradient` are host memory of the
  /// slot's element count and do not overlap. The gradient counts times
  /// `gradientScale` (clipping), rounded to f32; it is not written. `lr` is the
  /// step's rate. For a parameter that got no gradient, do not call it: it then
  /// keeps its value, weight decay or not, and its own step count.
  void apply(size_t slot, float *parameter, const float *gradient,
             double gradientScale, double lr);

  size_t size() const { return slots.size(); }
  /// Updates that the slot has had.
  int64_t steps(size_t slot) const;
  /// Bytes of state for one element of a parameter: 0, 4 or 8.
  static size_t stateBytesPerElement(const OptimizerConfig &config);

  /// All state by its name in checkpoints, to be read or written there:
  ///   optimizer.step.NAME             i64[]   updates so far
  ///   optimizer.momentum_buffer.NAME  f32     sgd with momentum
  ///   optimizer.exp_avg.NAME          f32     adam, adamw
  ///   optimizer.exp_avg_sq.NAME       f32     adam, adamw
  /// with the parameter's shape. The views borrow; they are valid while the
  /// optimizer lives, further add() calls included.
  std::map<std::string, TensorView> state();

private:
  struct Slot {
    std::string name;
    Tensor step;          // i64[]
    Tensor first, second; // momentum_buffer, or exp_avg and exp_avg_sq
    int64_t count = 0;
  };
  explicit Optimizer(const OptimizerConfig &config) : config(config) {}

  OptimizerConfig config;
  std::vector<Slot> slots;
  std::set<std::string> names;
};

} // namespace pipec

#endif
