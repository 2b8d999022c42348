// Compares what is read with what is written: see CommandPaths.h. In: paths as
// given. Out: ok, or an error. Tests: test/e2e/cli/replace.test.
#include "tools/pipec/CommandPaths.h"

#include "frontends/OpenModel.h"
#include "runtime/checkpoint/weight_files.h"
#include "runtime/package/package_impl.h"

#include <algorithm>
#include <filesystem>

namespace fs = std::filesystem;

namespace pipec::tool {
namespace {

using Named = CommandPaths::Named;

/// Absolute, links resolved as far as the path exists.
fs::path resolved(const std::string &path) {
  std::error_code error;
  fs::path result = fs::weakly_canonical(fs::absolute(path, error), error);
  if (error)
    result = fs::absolute(path, error);
  return result.has_filename() ? result : result.parent_path();
}

/// The path of `inner` below `outer`; empty where it lies elsewhere.
fs::path below(const std::string &outer, const std::string &inner) {
  const fs::path folder = resolved(outer), path = resolved(inner);
  const auto ends =
      std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  fs::path rest;
  if (ends.first == folder.end())
    for (auto at = ends.second; at != path.end(); ++at)
      rest /= *at;
  return rest;
}

bool isSame(const std::string &one, const std::string &other) {
  std::error_code ignored; // of files that are not there
  return resolved(one) == resolved(other) ||
         fs::equivalent(one, other, ignored);
}

bool exists(const std::string &path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

/// What `paths` reads, the files behind model and weights too. What cannot be
/// opened is left out: the command fails on it before it writes.
std::vector<Named> filesRead(const CommandPaths &paths) {
  std::vector<Named> files = paths.read;
  files.push_back({"the model", paths.model});
  std::error_code ignored;
  if (fs::is_directory(paths.model, ignored)) {
    if (auto package = Package::open(paths.model); package.ok())
      for (const auto &stage : package->impl().external)
        for (const auto &range : stage)
          if (range)
            files.push_back({"a file of the model's weights", range->file});
  } else if (!paths.model.empty()) {
    if (auto model = frontend::openModel(paths.model); model.ok())
      for (const std::string &file : (*model)->files())
        files.push_back({"a file of the model's weights", file});
  }
  for (const std::string &path : paths.weights) {
    files.push_back({"--weights", path});
    if (auto opened = WeightFiles::open({path}); opened.ok())
      for (const SafetensorsFile &file : opened->table().files())
        files.push_back({"--weights", file.path()});
  }
  return files;
}

Status compare(const Named &written, const Named &read) {
  if (read.path.empty())
    return {};
  const std::string option = written.what + " " + written.path;
  if (isSame(written.path, read.path))
    return invalidArgument(written.what + " would replace " + read.what + ", " +
                           read.path + ": give another path");
  std::error_code ignored;
  if (fs::is_directory(read.path, ignored) &&
      !below(read.path, written.path).empty())
    return invalidArgument(option + " lies in the package that is read, " +
                           read.path + ": give another path");
  if (fs::is_directory(written.path, ignored) &&
      !below(written.path, read.path).empty())
    return invalidArgument(option + " holds " + read.what + ", " + read.path +
                           ", which is read: give another path");
  return {};
}

/// Whether `path` lies in DIR/step-<k>.
bool isInCheckpoint(const std::string &dir, const std::string &path) {
  if (dir.empty() || path.empty())
    return false;
  const fs::path rest = below(dir, path);
  return !rest.empty() && rest.begin()->string().rfind("step-", 0) == 0;
}

Status checkCheckpoints(const CommandPaths &paths,
                        const std::vector<Named> &read) {
  for (const Named &file : paths.written)
    if (isInCheckpoint(paths.checkpoints, file.path))
      return invalidArgument(file.what + " " + file.path +
                             " lies in a checkpoint: give another path");
  for (const Named &file : read)
    if (isInCheckpoint(paths.checkpoints, file.path))
      return invalidArgument("--checkpoint " + paths.checkpoints + " holds " +
                             file.what + ", " + file.path +
                             ", which is read: name another folder");
  return {};
}

} // namespace

Status checkPaths(const CommandPaths &paths) {
  std::vector<Named> written;
  for (const Named &file : paths.written) {
    if (file.path.empty())
      continue;
    if (file.path == "-")
      return invalidArgument(file.what +
                             " - is not written to stdout: name a file (./- "
                             "is one of that name)");
    for (const Named &other : written)
      if (isSame(file.path, other.path))
        return invalidArgument(file.what + " and " + other.what +
                               " are one file, " + file.path);
    written.push_back(file);
  }
  std::vector<Named> read = paths.read;
  read.push_back({"the model", paths.model});
  // A file that is not there is none of those that can be opened.
  if (std::any_of(written.begin(), written.end(),
                  [](const Named &file) { return exists(file.path); }) ||
      exists(paths.checkpoints))
    read = filesRead(paths);
  for (const Named &file : written)
    for (const Named &other : read)
      PIPEC_RETURN_IF_ERROR(compare(file, other));
  if (paths.checkpoints.empty())
    return {};
  std::error_code ignored;
  if (fs::is_directory(paths.model, ignored) &&
      (isSame(paths.checkpoints, paths.model) ||
       !below(paths.model, paths.checkpoints).empty()))
    return invalidArgument("--checkpoint " + paths.checkpoints +
                           " lies in the package that is read, " + paths.model +
                           ": name another folder");
  return checkCheckpoints(paths, read);
}

} // namespace pipec::tool
