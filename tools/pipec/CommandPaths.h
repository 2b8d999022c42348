// What a command reads and where it writes: no result may take the place of
// what its numbers come from.
#ifndef PIPEC_TOOLS_PIPEC_COMMANDPATHS_H
#define PIPEC_TOOLS_PIPEC_COMMANDPATHS_H

#include "pipec/status.h"

#include <string>
#include <vector>

namespace pipec::tool {

/// Empty paths stand for options that were not given.
struct CommandPaths {
  struct Named {
    std::string what; // "--inputs", "the model"
    std::string path;
  };
  /// A model file, with its external data, or a package, with the files that
  /// its weights lie in.
  std::string model;
  /// safetensors files, or an index of some.
  std::vector<std::string> weights;
  std::vector<Named> read;
  /// Files, or folders that are replaced as a whole.
  std::vector<Named> written;
  /// A folder of checkpoints: what lies in its folders step-<k> is the
  /// checkpoints' own.
  std::string checkpoints;
};

/// InvalidArgument where a path that is written is one that is read, under any
/// name or link, lies in a package or checkpoint, or holds what is read; and
/// where two that are written are one. Called before any work.
Status checkPaths(const CommandPaths &paths);

} // namespace pipec::tool

#endif // PIPEC_TOOLS_PIPEC_COMMANDPATHS_H
