// Recognises packages by what is in them: see PackageTarget.h. In: a folder,
// which may be anyone's. Out: ok, or an error that names what is foreign.
// Tests: test/e2e/cli/overwrite.test.
#include "compiler/PackageTarget.h"

#include "compiler/PackageWriter.h"

#include "package.pb.h"
#include "runtime/base/safetensors.h"

#include <filesystem>
#include <fstream>
#include <regex>

namespace fs = std::filesystem;

namespace pipec {
namespace {

Status foreign(const std::string &path, const std::string &why) {
  return invalidArgument(path + " is not replaced: " + why +
                         "; move it away or give another path");
}

/// stage<k> for a k below `stages`, as we spell it.
bool isStage(const std::string &name, int stages) {
  for (int s = 0; s < stages; ++s)
    if (name == "stage" + std::to_string(s))
      return true;
  return false;
}

bool isStageFile(const fs::directory_entry &entry) {
  static const std::regex programs(
      "(program|backward_input|backward_weight|loss_totals)"
      "(0|[1-9][0-9]*)\\.pb");
  const std::string name = entry.path().filename().string();
  std::error_code ignored;
  if (!fs::is_regular_file(entry.symlink_status(ignored)))
    return false;
  if (name == "weights.safetensors")
    return SafetensorsFile::open(entry.path().string()).ok();
  std::ifstream file(entry.path(), std::ios::binary);
  return std::regex_match(name, programs) &&
         schema::Program().ParseFromIstream(&file);
}

/// The first thing in `folder` that `isOurs` does not know; empty: nothing.
template <typename IsOurs>
StatusOr<std::string> foreignIn(const fs::path &folder, const IsOurs &isOurs) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error))
    if (!isOurs(*at))
      return at->path().string();
  return error ? StatusOr<std::string>(
                     ioError(folder.string() + ": " + error.message()))
               : std::string();
}

} // namespace

Status checkIsOurPackage(const std::string &path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored) ||
      !fs::is_regular_file(fs::path(path) / "manifest.json", ignored))
    return invalidArgument(path +
                           " exists and is no package; it is not replaced");
  auto manifest = readManifest(path);
  if (!manifest.ok() || manifest->format_version() == 0 ||
      manifest->producer().rfind("pipec ", 0) != 0 ||
      manifest->stages_size() == 0)
    return foreign(path, "its manifest.json is not one that pipec wrote");
  const int stages = manifest->stages_size();
  PIPEC_ASSIGN_OR_RETURN(
      std::string other, foreignIn(path, [&](const fs::directory_entry &entry) {
        const std::string name = entry.path().filename().string();
        std::error_code error;
        return name == "manifest.json" ||
               (isStage(name, stages) &&
                fs::is_directory(entry.symlink_status(error)));
      }));
  for (int s = 0; other.empty() && s < stages; ++s) {
    const fs::path stage = fs::path(path) / ("stage" + std::to_string(s));
    if (!fs::exists(stage, ignored))
      continue; // a machine may have some stages alone
    PIPEC_ASSIGN_OR_RETURN(other, foreignIn(stage, isStageFile));
  }
  return other.empty()
             ? Status()
             : foreign(path, other + " is no part of a package, and would go "
                                     "with it");
}

} // namespace pipec
