// The weights of one stage: mapped, checked, and copied only where they must
// be.
#ifndef PIPEC_RUNTIME_PACKAGE_WEIGHTS_H
#define PIPEC_RUNTIME_PACKAGE_WEIGHTS_H

#include "runtime/package/package_impl.h"

namespace pipec {

/// Thread rule: externally synchronised; the tensors may be read by many
/// threads.
class StageWeights {
public:
  /// Opens the files of `stage`'s weights, no others', and checks names, types,
  /// ranges, and the checksum of the package's own file, for which it is read.
  /// Copies nothing yet. Errors: Io, DataLoss; they name file and weight.
  static StatusOr<StageWeights> map(const Package::Impl &package, size_t stage);

  /// Bytes that materialise() allocates: weights that lie unaligned or
  /// permuted.
  uint64_t copiedBytes() const;
  Status materialise();

  /// In the order of StageInfo::weights; read-only; valid after materialise().
  const std::vector<Tensor> &tensors() const { return bound; }

private:
  struct Pending { // a weight to be copied
    size_t index;
    std::vector<int64_t> storedShape, permutation;
  };
  Status bindInternal(const Package::Impl &package, size_t stage);
  Status bindExternal(const Package::Impl &package, size_t stage);
  Status add(size_t index, Tensor tensor);

  std::vector<Tensor> bound;
  std::vector<Pending> pending;
};

} // namespace pipec

#endif
