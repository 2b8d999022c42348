// Recognises checkpoints by what is in them: see own_checkpoint.h. In: a
// folder, which may be anyone's. Out: ok, or an error that names what is
// foreign. Tests: test/unit/checkpoint/StepFolderTest.cpp,
// test/e2e/cli/overwrite.test.
#include "runtime/checkpoint/own_checkpoint.h"

#include "runtime/base/safetensors.h"
#include "runtime/checkpoint/checkpoint_format.h"
#include "runtime/checkpoint/step_folder.h"

#include <filesystem>
#include <set>

namespace fs = std::filesystem;

namespace pipec {

Status checkOwnCheckpoint(const std::string &path, int64_t step) {
  const std::string json = path + "/" + kCheckpointFile;
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(path, error)) ||
      !fs::exists(json, error))
    return invalidArgument(path + " holds no checkpoint.json, so it is no "
                                  "checkpoint, and it is not removed");
  auto contents = readCheckpointJson(json);
  if (!contents.ok() || contents->info.step != step)
    return invalidArgument(
        path + " is not removed: its checkpoint.json is not that of step " +
        std::to_string(step) + " as pipec writes it");
  std::set<std::string> ours = {kCheckpointFile};
  for (const auto *files : {&contents->weightFiles, &contents->optimizerFiles})
    for (const auto &[name, file] : *files)
      ours.insert(file);
  for (fs::directory_iterator at(path, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code ignored;
    const std::string name = at->path().filename().string();
    if (!ours.count(name) ||
        !fs::is_regular_file(at->symlink_status(ignored)) ||
        (name != kCheckpointFile &&
         !SafetensorsFile::open(at->path().string()).ok()))
      return invalidArgument(path + " is not removed: " + at->path().string() +
                             " is no part of the checkpoint, and would go "
                             "with it");
  }
  return error ? ioError("cannot read '" + path + "': " + error.message())
               : Status();
}

} // namespace pipec
