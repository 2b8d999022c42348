// Writes a compiled model as a package folder, streaming the weights.
#ifndef PIPEC_COMPILER_PACKAGEWRITER_H
#define PIPEC_COMPILER_PACKAGEWRITER_H

#include "compiler/Compiler.h"

namespace pipec {

struct WriteOptions {
  /// Replace an existing package. What is no package is never replaced.
  bool overwrite = false;
  /// Refer to weights where they lie instead of copying them.
  bool weightsInPlace = false;
  /// Asked of the whole package in its temporary folder: one that it refuses is
  /// removed and the error, an internal one, returned. For those that can open
  /// packages, which the compiler cannot.
  std::function<Status(const std::string &folder)> check = {};
};

/// Whether a package may be written to `path`: what writePackage checks first,
/// for callers that would rather know before they compile.
Status checkPackageTarget(const std::string &path, bool overwrite);

/// Writes to a temporary folder beside `path` and renames it, so that an
/// interrupted write leaves nothing at `path`. Holds a megabyte of weights at a
/// time. Errors: InvalidArgument (exists), Io, DataLoss (the model file changed
/// or is too short).
Status writePackage(const CompiledModel &model, const std::string &path,
                    const WriteOptions &options, const Reporter &report);

/// Manifest and programs as the files that a package has them in, by name: for
/// who reads the package without a weight, and without a folder.
StatusOr<std::map<std::string, std::string>>
packageFiles(const CompiledModel &model);

/// The manifest of the package at `path`, for reports. Open the package first:
/// that is what checks it.
StatusOr<schema::Manifest> readManifest(const std::string &path);

} // namespace pipec

#endif // PIPEC_COMPILER_PACKAGEWRITER_H
