// Starts from and writes checkpoints: see TrainCheckpoints.h. In: a folder and
// a trainer. Out: folders step-<k>. Tests: test/e2e/cli/checkpoint.test,
// resume.test, test/conformance/train_resume.py.
#include "tools/pipec/TrainCheckpoints.h"

#include "runtime/base/temporaries.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/own_checkpoint.h"
#include "runtime/checkpoint/step_folder.h"
#include "tools/pipec/NumberChecks.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

namespace fs = std::filesystem;

namespace pipec::tool {

void CheckpointArguments::addTo(CLI::App &command) {
  const char *group = "Checkpoints";
  CLI::Option *checkpoint =
      command
          .add_option("--checkpoint", folder,
                      "Folder for checkpoints, DIR/step-<k> after k steps: "
                      "parameters, optimizer state, step, seed and data "
                      "position, for any other --stages and --schedule")
          ->type_name("DIR")
          ->group(group);
  command
      .add_option("--checkpoint-every", every,
                  "Steps from one to the next; one is always written after the "
                  "last step")
      ->check(wholeNumber(1))
      ->needs(checkpoint)
      ->group(group);
  command
      .add_option("--keep-checkpoints", keep,
                  "Remove all but this many of the latest; without it all stay")
      ->check(wholeNumber(1))
      ->needs(checkpoint)
      ->group(group);
  command
      .add_flag("--resume", resume,
                "Go on from the latest checkpoint in DIR up to --steps, with "
                "the numbers of a run that never stopped; from the beginning "
                "where there is none yet. --log goes on, too.")
      ->needs(checkpoint)
      ->group(group);
}

/// A folder step-<k> without a checkpoint.json: nothing that a run of ours left
/// is so, it was damaged or is the user's own, and is not removed.
static Status checkSteps(const std::string &folder, bool resume,
                         bool overwrite) {
  PIPEC_ASSIGN_OR_RETURN(const std::vector<int64_t> steps, listSteps(folder));
  std::string good; // the latest before the one that holds none
  for (const int64_t step : steps) {
    const std::string path = stepPath(folder, step);
    const bool isLatest = step == steps.back();
    const Status isOurs =
        overwrite && !resume ? checkOwnCheckpoint(path, step) : Status();
    if (holdsCheckpoint(folder, step) && isOurs.ok())
      good = path;
    else if (!resume)
      return invalidArgument(
          "--checkpoint " + folder + ": " +
          (isOurs.ok() ? path + " holds no checkpoint.json, so it is no "
                                "checkpoint, and it is not removed"
                       : isOurs.message()) +
          ": move it away or name another folder");
    else if (isLatest)
      return invalidArgument(
          "--resume: " + path +
          " holds no checkpoint.json: it is damaged, or "
          "no checkpoint; remove it to " +
          (good.empty() ? "start at step 0" : "resume from " + good));
  }
  return {};
}

/// Two runs in one folder remove each other's checkpoints.
Status TrainCheckpoints::lockFolder() {
  PIPEC_ASSIGN_OR_RETURN(made, MadeFolder::create(arguments.folder));
  auto taken = FileLock::take(arguments.folder);
  if (!taken.ok())
    return taken.status().withPrefix("--checkpoint");
  lock = std::move(*taken);
  return {};
}

Status TrainCheckpoints::open(bool overwrite) {
  if (arguments.folder.empty())
    return {};
  std::error_code ignored;
  const std::string &folder = arguments.folder;
  if (fs::exists(fs::path(folder) / kCheckpointFile, ignored))
    return invalidArgument("--checkpoint " + folder +
                           " is a checkpoint itself; name the folder that it "
                           "lies in");
  PIPEC_RETURN_IF_ERROR(lockFolder());
  PIPEC_RETURN_IF_ERROR(checkSteps(folder, arguments.resume, overwrite));
  PIPEC_ASSIGN_OR_RETURN(const std::string latest, Checkpoint::latest(folder));
  if (!arguments.resume && !latest.empty() && !overwrite)
    return invalidArgument(
        "--checkpoint " + folder + " holds checkpoints, the latest is " +
        latest +
        "; pass --resume to go on from it, or --overwrite to remove them");
  if (!arguments.resume) {
    PIPEC_ASSIGN_OR_RETURN(replaced, listSteps(folder));
    return {};
  }
  if (latest.empty()) {
    report("no checkpoint in " + folder + " yet: starting at step 0");
    return {};
  }
  PIPEC_ASSIGN_OR_RETURN(const Checkpoint checkpoint, Checkpoint::open(latest));
  start = latest;
  first = checkpoint.info().step;
  return {};
}

Status TrainCheckpoints::resume(Trainer &trainer,
                                const CheckpointNotes &notes) const {
  if (!isResumed())
    return {};
  PIPEC_ASSIGN_OR_RETURN(const Resumed resumed, trainer.resume(start, notes));
  report("resuming from " + resumed.path + ", " + std::to_string(resumed.step) +
         " steps done");
  for (const std::string &remark : resumed.remarks)
    report(remark);
  return {};
}

/// A later --resume must not find them.
Status TrainCheckpoints::removeReplaced(int64_t done) {
  for (const int64_t step : replaced)
    if (step != done)
      PIPEC_RETURN_IF_ERROR(removeStep(arguments.folder, step));
  replaced.clear();
  return {};
}

Status TrainCheckpoints::afterStep(Trainer &trainer, int64_t done,
                                   int64_t steps,
                                   const CheckpointNotes &notes) {
  const bool isTime =
      done == steps || (arguments.every && done % arguments.every == 0);
  if (arguments.folder.empty() || !isTime)
    return {};
  CheckpointOptions options;
  options.notes = notes;
  options.keep = replaced.empty() ? arguments.keep : 0;
  options.overwrite =
      std::find(replaced.begin(), replaced.end(), done) != replaced.end();
  const auto begin = std::chrono::steady_clock::now();
  std::string path;
  {
    auto whole = postponeInterrupts();
    PIPEC_ASSIGN_OR_RETURN(path,
                           trainer.saveCheckpoint(arguments.folder, options));
    PIPEC_RETURN_IF_ERROR(removeReplaced(done));
  }
  char seconds[32];
  std::snprintf(
      seconds, sizeof seconds, "%.2f s",
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count());
  report("wrote checkpoint " + path + " in " + seconds);
  return {};
}

} // namespace pipec::tool
