// Reads checkpoints: to resume with any cut, to inspect, to export.
#ifndef PIPEC_RUNTIME_CHECKPOINT_CHECKPOINT_H
#define PIPEC_RUNTIME_CHECKPOINT_CHECKPOINT_H

#include "runtime/checkpoint/checkpoint_format.h"

namespace pipec {

/// An opened checkpoint; its files are mapped. Nothing in it depends on how the
/// model was cut that wrote it. Thread rule: immutable; load functions may run
/// at once for targets that do not overlap, a thread a stage.
class Checkpoint {
public:
  /// `path` is a checkpoint, DIR/step-<k>, or the DIR that holds some, of which
  /// the latest complete one is taken. InvalidArgument where there is none;
  /// DataLoss, Io, Unsupported where one is damaged or of a later pipec: an
  /// older one is then not taken silently.
  static StatusOr<Checkpoint> open(const std::string &path);

  /// Path of the latest complete checkpoint in `dir`; "" when there is none,
  /// also where `dir` does not exist. Io.
  static StatusOr<std::string> latest(const std::string &dir);

  const std::string &path() const { return folder; }
  const CheckpointInfo &info() const { return contents.info; }
  /// Parameters and buffers under all of their names.
  const TensorTable &weights() const { return weightTable; }
  /// Optimizer state, as Optimizer::state() names it.
  const TensorTable &optimizer() const { return optimizerTable; }
  const TiedNames &tied() const { return contents.tied; }
  /// Names of weights() that are buffers.
  const std::vector<std::string> &buffers() const { return contents.buffers; }

  /// Names of parameters and buffers that the model has and the checkpoint
  /// lacks, and the reverse.
  NameReport match(const std::vector<NamedView> &targets) const {
    return weightTable.match(targets);
  }
  /// Fills parameters and buffers, each found under any name of its own or of
  /// the checkpoint's ties. Types must be equal. Errors as TensorTable::load.
  Status loadInto(const std::vector<NamedView> &targets,
                  bool allowMissing = false) const;
  /// Fills Optimizer::state(). `ties` are the model's: state may lie under
  /// another name of the parameter. With `allowMissing`, a parameter that the
  /// run before did not train keeps its fresh state.
  Status loadOptimizer(const std::map<std::string, TensorView> &state,
                       const TiedNames &ties, bool allowMissing = false) const;

private:
  Checkpoint() = default;
  std::string folder;
  CheckpointContents contents;
  TensorTable weightTable, optimizerTable;
};

/// Writes all parameters and buffers into one safetensors file that PyTorch's
/// and Hugging Face's loaders open, tied ones under every name. Streams: memory
/// does not grow with the model. Errors: Io, also for an existing `file` that
/// is not to be overwritten.
Status exportWeights(const Checkpoint &checkpoint, const std::string &file,
                     bool overwrite);

/// Lines for people: step, seed, position, optimizer, notes, totals, and each
/// tensor with type, file and tied names.
std::string describeCheckpoint(const Checkpoint &checkpoint);

} // namespace pipec

#endif
