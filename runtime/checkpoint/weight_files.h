// Weights to start from: safetensors files, or the index that Hugging Face
// writes for a model in several of them.
#ifndef PIPEC_RUNTIME_CHECKPOINT_WEIGHT_FILES_H
#define PIPEC_RUNTIME_CHECKPOINT_WEIGHT_FILES_H

#include "runtime/checkpoint/tensor_table.h"

namespace pipec {

/// --weights. Thread rule: immutable; loadInto() may run at once for targets
/// that do not overlap.
class WeightFiles {
public:
  /// Each path is a safetensors file, or an index (a name in .json, as
  /// model.safetensors.index.json) of files in its own folder. Maps them; reads
  /// no weights. Errors: InvalidArgument for a tensor that two files have and
  /// for no path at all, Unsupported for pickled files, Io, DataLoss.
  static StatusOr<WeightFiles> open(const std::vector<std::string> &paths);

  const TensorTable &table() const { return tensors; }
  /// Names that the model has and the files lack, and the reverse; a target
  /// counts as found under any of its tied names.
  NameReport match(const std::vector<NamedView> &targets) const {
    return tensors.match(targets);
  }
  /// TensorTable::load, with f16 and bf16 widened to f32, and tied names that
  /// the files hold with different values refused.
  Status loadInto(const std::vector<NamedView> &targets,
                  bool allowMissing = false) const;

private:
  WeightFiles() = default;
  TensorTable tensors;
};

} // namespace pipec

#endif
