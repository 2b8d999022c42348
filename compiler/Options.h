// What a user may ask of the compiler: plain data, filled by the command line
// or by a program.
#ifndef PIPEC_COMPILER_OPTIONS_H
#define PIPEC_COMPILER_OPTIONS_H

#include "pipec/package.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace pipec {

/// Progress and remarks for the user; one line each, no line end.
using Reporter = std::function<void(const std::string &)>;

struct CompileOptions {
  /// Split points "PATH:BEGIN" or "PATH:END"; exclusive with `stages`.
  std::vector<std::string> splits;
  /// Stages of the automatic cut.
  int64_t stages = 1;
  /// Pieces that the batch is cut into.
  int64_t microbatches = 1;
  /// Sizes of symbolic dimensions, for the whole batch.
  std::map<std::string, int64_t> bindings;
  /// Whole-batch shapes of graph inputs, where the tensors are at hand.
  std::map<std::string, std::vector<int64_t>> inputShapes;
  /// Graph inputs that every microbatch gets uncut. Scalars always are.
  std::vector<std::string> wholeInputs;
  /// How outputs join; outputs that are not named are concatenated where their
  /// first dimension is the microbatch's.
  std::map<std::string, Merge> merges;
  std::vector<std::pair<std::string, std::string>> ties;
  std::vector<std::string> unties;
  /// Leave the weights in the model's own files and refer to them.
  bool weightsInPlace = false;
  /// Bind what is left symbolic to 1 instead of refusing (for `inspect`).
  bool defaultBindings = false;
};

} // namespace pipec

#endif // PIPEC_COMPILER_OPTIONS_H
