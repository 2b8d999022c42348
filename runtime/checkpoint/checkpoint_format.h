// checkpoint.json: what it says, written and read.
//
// A checkpoint is a folder DIR/step-<k>, where k is the number of updates that
// its weights have had:
//   checkpoint.json             this file
//   part-<i>.safetensors        parameters and buffers of part i (a stage)
//   optimizer-<i>.safetensors   optimizer state of part i
// A part without tensors of a kind has no file for it. Tied names are all in
// the file, each with the bytes; optimizer state is there under one of them.
#ifndef PIPEC_RUNTIME_CHECKPOINT_CHECKPOINT_FORMAT_H
#define PIPEC_RUNTIME_CHECKPOINT_CHECKPOINT_FORMAT_H

#include "runtime/checkpoint/tensor_table.h"

namespace pipec {

/// The version that is written. Readers refuse later ones.
constexpr int64_t kCheckpointVersion = 1;

/// What a run needs, beside tensors, to go on. A value.
struct CheckpointInfo {
  int64_t step = 0; // updates so far, which is the number of the next step
  uint64_t seed = 0;
  int64_t dataPosition = 0; // the step that BatchSource::batch is asked next
  /// OptimizerConfig::fields(), to compare on resuming.
  std::map<std::string, std::string> optimizer;
  /// Whatever else the writer wants to see again: BatchSource::describe(), the
  /// model's file.
  std::map<std::string, std::string> notes;
};

/// All of checkpoint.json.
struct CheckpointContents {
  CheckpointInfo info;
  std::map<std::string, std::string> weightFiles;    // name -> file
  std::map<std::string, std::string> optimizerFiles; // state name -> file
  TiedNames tied;
  std::vector<std::string> buffers; // those of the names that are buffers
};

/// The file's text.
std::string checkpointJson(const CheckpointContents &contents);

/// Reads and checks the file at `path`, which is not trusted. Unsupported for a
/// later version; Io, DataLoss.
StatusOr<CheckpointContents> readCheckpointJson(const std::string &path);

} // namespace pipec

#endif
