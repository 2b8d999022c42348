// What computes an op: kernels, and the registry that finds one.
//
// Two sets register here: `reference` (runtime/kernels/reference), a plain
// kernel for every core op, the yardstick for all others; and `onednn`
// (runtime/kernels/onednn), library calls where they fit. A kernel is made once
// per instruction at load, with static types, and run once per microbatch.
//
// Bit rule (decision 6): the result depends on the op, its types and the
// operands' values alone; never on the stage, on the thread count or on where
// the bytes lie.
#ifndef PIPEC_RUNTIME_KERNELS_KERNEL_H
#define PIPEC_RUNTIME_KERNELS_KERNEL_H

#include "runtime/base/op.h"

#include <functional>

namespace pipec {

/// A prepared op. Thread rule: run() of one object is not re-entrant.
class Kernel {
public:
  virtual ~Kernel() = default;
  /// Computes outputs from inputs. All views have the types of the OpDesc, and
  /// their bytes do not overlap. `scratch` has scratchBytes() bytes, 64-byte
  /// aligned.
  virtual Status run(const std::vector<TensorView> &inputs,
                     const std::vector<TensorView> &outputs, void *scratch) = 0;
  /// Bytes of temporary memory that run() needs; constant over the object's
  /// life.
  virtual size_t scratchBytes() const { return 0; }
};

using KernelFactory =
    std::function<StatusOr<std::unique_ptr<Kernel>>(const OpDesc &)>;

enum class KernelSet { Reference, OneDnn };

/// Kernels by op name. Filled before main by the sets that are linked in
/// (registerReferenceKernels, registerOneDnnKernels); read-only afterwards.
class KernelRegistry {
public:
  /// With both kernel sets of this build.
  static const KernelRegistry &get();

  /// `supports`, where given, says whether the factory takes this op; else the
  /// next set is asked.
  void add(const std::string &op, KernelSet set, KernelFactory factory,
           std::function<bool(const OpDesc &)> supports = {});

  /// The kernel for `op`: oneDNN's where it supports the op, else the reference
  /// one. With `referenceOnly`, always the reference kernel. A library factory
  /// that answers Unsupported leaves the op to the reference kernel. An error
  /// names the op, its types and its origin.
  StatusOr<std::unique_ptr<Kernel>> create(const OpDesc &op,
                                           bool referenceOnly = false) const;
  bool hasReference(const std::string &op) const;
  /// Names of all ops with a reference kernel, sorted.
  std::vector<std::string> ops() const;

private:
  struct Entry {
    KernelSet set;
    KernelFactory factory;
    std::function<bool(const OpDesc &)> supports;
  };
  std::map<std::string, std::vector<Entry>> entries;
};

/// Runs one op on tensors with its reference kernel: the evaluator that
/// constant folding uses.
StatusOr<std::vector<Tensor>> evaluate(const OpDesc &op,
                                       const std::vector<Tensor> &inputs);

void registerReferenceKernels(KernelRegistry &registry);
void registerOneDnnKernels(KernelRegistry &registry);

} // namespace pipec

#endif // PIPEC_RUNTIME_KERNELS_KERNEL_H
