// Arguments that every command taking a model shares, and what they mean to the
// compiler.
#ifndef PIPEC_TOOLS_PIPEC_MODELARGUMENTS_H
#define PIPEC_TOOLS_PIPEC_MODELARGUMENTS_H

#include "compiler/Compiler.h"
#include "compiler/Report.h"
#include "pipec/package.h"

#include <CLI/CLI.hpp>

namespace pipec::tool {

/// How to cut and bind a model, as given on the command line.
struct ModelArguments {
  std::string model, names;
  std::vector<std::string> splits, bindings, whole, merges, ties, unties;
  int64_t stages = 0, microbatches = 0;
  bool quiet = false;

  std::vector<std::string> allowExternal;

  void addTo(CLI::App &command, const std::string &modelHelp);
  /// --allow-external, for commands that read the weights of packages.
  void addAllowExternalTo(CLI::App &command);
  /// The package at `path`, which is the model's where that is one; else one
  /// that was made of it for this call.
  StatusOr<Package> openPackage(const std::string &path) const;
  /// Parses NAME=VALUE texts; errors quote the text and show the form.
  StatusOr<CompileOptions> options() const;
  /// Names of the options that only make sense for a model file, where given.
  std::string givenCutOptions() const;
  /// Lines on stderr; quiet: only those that begin with "warning: ".
  Reporter reporter() const;
};

/// " needs " or " need ", after options with commas between.
const char *needVerb(const std::string &options);

/// Whether `path` is a package; else it is taken for a model file. Errors:
/// nothing there, a folder that is no package.
StatusOr<bool> isPackage(const std::string &path);

/// An error about the package at the path `package`, which may be a temporary
/// one, as one about the file `model` that the user gave. One that begins with
/// an option stays.
Status aboutTheModel(const Status &status, const std::string &package,
                     const std::string &model);

/// The report's context from a compiled model.
ReportContext reportContext(const CompiledModel &model, int64_t microbatches);

} // namespace pipec::tool

#endif // PIPEC_TOOLS_PIPEC_MODELARGUMENTS_H
