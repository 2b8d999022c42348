// What a user may ask of the compiler: plain data, filled by the command line
// or by a program.
#ifndef PIPEC_COMPILER_OPTIONS_H
#define PIPEC_COMPILER_OPTIONS_H

#include "pipec/package.h"
#include "pipec/tensor.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pipec {

/// Progress and remarks for the user; one line each, no line end.
using Reporter = std::function<void(const std::string &)>;

struct CompiledModel;

/// What a training step takes, as the runtime counts it.
struct StepMemory {
  std::vector<uint64_t> stageBytes; // a stage's does not depend on the others'
  Status fits; // an error with all the numbers where it exceeds the limit
};

/// What a package for training needs beside the cut.
struct TrainingOptions {
  enum class Loss { CrossEntropy, Mse, Output };
  Loss loss = Loss::Output;
  /// The model's output that the loss is of; empty: its only one.
  std::string output;
  std::string labels = "labels";
  DType labelType = DType::I64; // of class indices: I32 or I64
  /// The loss is the mean over what counts in the whole batch, else the sum.
  bool mean = true;
  int64_t ignoreIndex = -100;
  double labelSmoothing = 0;
  /// Parameters that keep their values: names, with * for any part of one.
  std::vector<std::string> freeze;
  /// Train although the exporter folded a tenth of the parameters or more.
  bool allowFolded = false;
  /// Batch normalisation keeps its stored statistics.
  bool batchNormFrozen = false;
  /// A name of passes/schedule/Generate.h, or, with `scheduleCsv`, what to call
  /// the schedule of that text.
  std::string schedule = "1f1b";
  std::optional<std::string> scheduleCsv;
  int64_t ranks = 0; // 0: the schedule's own choice
  /// Whether forward values are computed again in the backward instead of
  /// kept. Auto: in as many stages as `memoryLimit` asks for, those that keep
  /// most first.
  enum class Recompute { None, Full, Auto };
  Recompute recompute = Recompute::None;
  uint64_t memoryLimit = 0; // bytes of all ranks together; 0: none
  /// Auto asks it: the one count that decides is that of who runs the package.
  std::function<StatusOr<StepMemory>(const CompiledModel &)> stepMemory;
};

/// Tensors that the model is to run on: what to call where they come from (a
/// file, or ""), and their types. There may be others beside the inputs.
struct GivenInputs {
  std::string from;
  std::map<std::string, TensorType> types;
};

struct CompileOptions {
  /// Split points "PATH:BEGIN" or "PATH:END"; exclusive with `stages`.
  std::vector<std::string> splits;
  /// Stages of the automatic cut.
  int64_t stages = 1;
  /// Pieces that the batch is cut into.
  int64_t microbatches = 1;
  /// Parts of a batch that the caller makes, one after the other; each is then
  /// cut into microbatches.
  int64_t accumulate = 1;
  /// Sizes of symbolic dimensions, for the whole batch.
  std::map<std::string, int64_t> bindings;
  /// Whole-batch shapes of graph inputs, where the tensors are at hand.
  std::map<std::string, std::vector<int64_t>> inputShapes;
  /// Where set, checked against what the file declares before the import.
  std::optional<GivenInputs> given;
  /// Graph inputs that every microbatch gets uncut. Scalars always are.
  std::vector<std::string> wholeInputs;
  /// How outputs join; outputs that are not named are concatenated where their
  /// first dimension is the microbatch's.
  std::map<std::string, Merge> merges;
  std::vector<std::pair<std::string, std::string>> ties;
  std::vector<std::string> unties;
  /// A safetensors file with the state_dict that the model was exported with,
  /// whose names its tensors get; empty: none.
  std::string names;
  /// Leave the weights in the model's own files and refer to them.
  bool weightsInPlace = false;
  /// Bind what is left symbolic to 1 instead of refusing (for `inspect`).
  bool defaultBindings = false;
  /// The same for first dimensions alone; see batchShapes.
  bool defaultRows = false;
  /// Set to compile for training.
  std::optional<TrainingOptions> training;
};

} // namespace pipec

#endif // PIPEC_COMPILER_OPTIONS_H
