// Folders of checkpoints on the disk. In: a directory and a step. Out: a folder
// that appears under its name only when it is whole.
// Tests: test/unit/checkpoint/StepFolderTest.cpp.
#include "runtime/checkpoint/step_folder.h"

#include "runtime/checkpoint/own_checkpoint.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pipec {
namespace {

namespace fs = std::filesystem;

Status failed(const std::string &what, const std::string &path, int error) {
  return ioError("cannot " + what + " '" + path + "': " + std::strerror(error));
}

Status alreadyThere(const std::string &path) {
  return ioError("'" + path +
                 "' exists already and is not overwritten unless asked");
}

bool startsWith(const std::string &text, const char *prefix) {
  return text.rfind(prefix, 0) == 0;
}

bool isTemporary(const std::string &name) {
  return startsWith(name, ".step-") && fs::path(name).extension() == ".tmp";
}

std::string temporaryName(const std::string &dir, int64_t step) {
  static std::atomic<uint64_t> counter{0};
  return dir + "/.step-" + std::to_string(step) + "-" +
         std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".tmp";
}

Status syncFolder(const std::string &path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return failed("sync", path, errno);
  const int error = ::fsync(fd) == 0 || errno == EINVAL ? 0 : errno;
  ::close(fd);
  return error ? failed("sync", path, error) : Status();
}

// Locks the folder at `path` if nobody has; -1 otherwise.
int tryLock(const std::string &path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return -1;
  // A cleaner may have locked and removed the folder before we came to it.
  struct stat opened, named;
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0 && ::fstat(fd, &opened) == 0 &&
      ::stat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino)
    return fd;
  ::close(fd);
  return -1;
}

// What killed processes left. Errors do not matter: it is tried again.
void removeStale(const std::string &dir) {
  std::error_code error;
  for (fs::directory_iterator at(dir, error), end; !error && at != end;
       at.increment(error)) {
    if (!isTemporary(at->path().filename().string()))
      continue;
    const int fd = tryLock(at->path().string());
    if (fd < 0)
      continue;
    std::error_code ignored;
    fs::remove_all(at->path(), ignored);
    ::close(fd);
  }
}

// rename() that replaces nothing.
int renameNew(const std::string &from, const std::string &to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(),
                  RENAME_NOREPLACE) == 0)
    return 0;
  if (errno != EINVAL && errno != ENOSYS)
    return errno;
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(to, ignored)))
    return EEXIST;
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

// Swaps the names of two folders, in one step where the file system can.
int swapNames(const std::string &from, const std::string &to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(),
                  RENAME_EXCHANGE) == 0)
    return 0;
  if (errno != EINVAL && errno != ENOSYS)
    return errno;
  // Not a temporary name: should we be killed here, it must not be cleaned
  // away.
  const std::string aside = to + ".old";
  if (::rename(to.c_str(), aside.c_str()) != 0)
    return errno;
  const int error = ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
  ::rename(aside.c_str(), error ? to.c_str() : from.c_str());
  return error;
}

} // namespace

int64_t stepOfName(const std::string &name) {
  if (!startsWith(name, "step-"))
    return -1;
  int64_t step = -1;
  const char *begin = name.data() + 5, *end = name.data() + name.size();
  const auto parsed = std::from_chars(begin, end, step);
  // Only the spelling that we write: "step-007" is another's.
  return parsed.ec == std::errc() && parsed.ptr == end && step >= 0 &&
                 name == "step-" + std::to_string(step)
             ? step
             : -1;
}

std::string stepPath(const std::string &dir, int64_t step) {
  return dir + "/step-" + std::to_string(step);
}

StatusOr<std::vector<int64_t>> listSteps(const std::string &dir) {
  std::vector<int64_t> steps;
  std::error_code error;
  if (!fs::exists(dir, error) && !error)
    return steps;
  for (fs::directory_iterator at(dir, error), end; !error && at != end;
       at.increment(error)) {
    const int64_t step = stepOfName(at->path().filename().string());
    // A folder gets this name when it is whole: one without its JSON is
    // damaged, which opening it says.
    if (step >= 0)
      steps.push_back(step);
  }
  if (error)
    return ioError("cannot read '" + dir + "': " + error.message());
  std::sort(steps.begin(), steps.end());
  return steps;
}

bool holdsCheckpoint(const std::string &dir, int64_t step) {
  std::error_code ignored;
  return fs::exists(stepPath(dir, step) + "/" + kCheckpointFile, ignored);
}

Status removeOldSteps(const std::string &dir, int64_t keep, int64_t current) {
  PIPEC_ASSIGN_OR_RETURN(std::vector<int64_t> steps, listSteps(dir));
  steps.erase(std::remove_if(
                  steps.begin(), steps.end(),
                  [&](int64_t step) {
                    return !checkOwnCheckpoint(stepPath(dir, step), step).ok();
                  }),
              steps.end());
  const int64_t surplus = static_cast<int64_t>(steps.size()) - keep;
  for (int64_t i = 0; i < surplus; ++i)
    if (steps[i] != current)
      PIPEC_RETURN_IF_ERROR(removeStep(dir, steps[i]));
  return Status();
}

Status removeStep(const std::string &dir, int64_t step) {
  const std::string path = stepPath(dir, step);
  PIPEC_RETURN_IF_ERROR(checkOwnCheckpoint(path, step));
  // Renamed first: a half-removed folder must not look like a checkpoint.
  const std::string doomed = temporaryName(dir, step);
  if (::rename(path.c_str(), doomed.c_str()) != 0)
    return failed("remove", path, errno);
  std::error_code error;
  fs::remove_all(doomed, error);
  return error ? ioError("cannot remove '" + doomed + "': " + error.message())
               : Status();
}

StatusOr<std::unique_ptr<StepFolder>>
StepFolder::create(const std::string &dir, int64_t step, bool overwrite) {
  if (dir.empty() || step < 0)
    return invalidArgument("a checkpoint needs a folder and a step of at least "
                           "0, got '" +
                           dir + "' and " + std::to_string(step));
  std::unique_ptr<StepFolder> folder(new StepFolder);
  folder->dir = dir;
  folder->step = step;
  folder->overwrite = overwrite;
  std::error_code error;
  folder->madeDir = fs::create_directories(dir, error);
  if (error)
    return ioError("cannot make the folder '" + dir + "': " + error.message());
  const std::string target = stepPath(dir, step);
  if (fs::exists(fs::symlink_status(target, error))) {
    if (!overwrite)
      return alreadyThere(target);
    PIPEC_RETURN_IF_ERROR(checkOwnCheckpoint(target, step));
  }
  removeStale(dir);
  PIPEC_RETURN_IF_ERROR(folder->makeTemporary());
  return folder;
}

Status StepFolder::makeTemporary() {
  for (int attempt = 0; attempt < 100 && lock < 0; ++attempt) {
    const std::string name = temporaryName(dir, step);
    if (::mkdir(name.c_str(), 0777) != 0) {
      if (errno == EEXIST)
        continue;
      return failed("write", name, errno);
    }
    temporary = name;
    lock = tryLock(name); // a cleaner may be faster: then under another name
  }
  return lock >= 0 ? Status() : failed("lock", temporary, EBUSY);
}

StepFolder::~StepFolder() {
  if (!temporary.empty()) {
    std::error_code ignored;
    fs::remove_all(temporary, ignored);
    if (madeDir)
      fs::remove(dir, ignored); // where nothing else is in it
  }
  if (lock >= 0)
    ::close(lock);
}

Status StepFolder::write(const std::string &name,
                         const std::string &text) const {
  const std::string path = temporary + "/" + name;
  std::FILE *file = std::fopen(path.c_str(), "wbxe");
  if (!file)
    return failed("write", path, errno);
  int error = 0;
  if (std::fwrite(text.data(), 1, text.size(), file) != text.size() ||
      std::fflush(file) != 0 || ::fsync(::fileno(file)) != 0)
    error = errno;
  if (std::fclose(file) != 0 && !error)
    error = errno;
  return error ? failed("write", path, error) : Status();
}

Status StepFolder::publish() {
  PIPEC_RETURN_IF_ERROR(syncFolder(temporary));
  const std::string target = stepPath(dir, step);
  int error = renameNew(temporary, target);
  const bool replaces = error == EEXIST && overwrite;
  if (replaces)
    error = swapNames(temporary, target);
  if (error == EEXIST)
    return alreadyThere(target);
  if (error)
    return failed("write", target, error);
  if (replaces) { // the old one has our temporary name now
    std::error_code ignored;
    fs::remove_all(temporary, ignored);
  }
  temporary.clear();
  return syncFolder(dir);
}

} // namespace pipec
