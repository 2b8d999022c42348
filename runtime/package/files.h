// Where a package's files come from: a folder, or memory (for the fuzzer).
#ifndef PIPEC_RUNTIME_PACKAGE_FILES_H
#define PIPEC_RUNTIME_PACKAGE_FILES_H

#include "pipec/package.h"

#include <map>

namespace pipec {

/// The bytes of a file and what keeps them alive.
struct FileBytes {
  const uint8_t *data = nullptr;
  size_t size = 0;
  std::shared_ptr<const void> owner;
};

/// Read-only files by their path inside the package. Thread rule: immutable.
class PackageFiles {
public:
  virtual ~PackageFiles() = default;
  /// The package's name in messages, and the folder that relative external
  /// paths start from.
  virtual const std::string &root() const = 0;
  virtual bool hasFolder(const std::string &name) const = 0;
  /// Errors: Io when it cannot be read.
  virtual StatusOr<FileBytes> read(const std::string &name) const = 0;
};

/// The files below the folder `path`.
std::unique_ptr<PackageFiles> folderFiles(const std::string &path);
/// Files given as name -> content.
std::unique_ptr<PackageFiles>
memoryFiles(std::map<std::string, std::string> contents);

/// Reads and checks manifest and programs.
StatusOr<std::shared_ptr<const Package::Impl>>
readPackage(const PackageFiles &files, const PackageOptions &options = {});
/// Package::open for any kind of files.
StatusOr<Package> openPackage(const PackageFiles &files,
                              const PackageOptions &options = {});

} // namespace pipec

#endif
