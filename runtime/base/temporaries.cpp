// Temporary folders and a thread that waits for the signals that end us: a
// signal handler itself may not remove folders.
// Tests: test/e2e/cli/interrupt.test.
#include "runtime/base/temporaries.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <ftw.h>
#include <mutex>
#include <set>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace pipec {
namespace {

struct Registry {
  std::mutex mutex;
  std::set<std::string> folders;
  std::vector<std::string> made; // removed where they are empty
  std::atomic<bool> isInterrupted{false};
};

Registry &registry() {
  static Registry *held = new Registry; // outlives the waiting thread
  return *held;
}

int removeEntry(const char *path, const struct stat *, int, struct FTW *) {
  ::remove(path); // what cannot be removed shows at the folder
  return 0;
}

/// Another thread may be writing into the folder and so add to it while it is
/// removed; once its subfolder is gone, its writes fail. Not by
/// std::filesystem::remove_all, which may crash where others add and remove.
void removeFolder(const std::string &folder) {
  constexpr int kAttempts = 1000, kOpenFolders = 16;
  struct stat info;
  for (int i = 0; i < kAttempts && ::lstat(folder.c_str(), &info) == 0; ++i)
    ::nftw(folder.c_str(), removeEntry, kOpenFolders, FTW_DEPTH | FTW_PHYS);
}

/// Of the folders that were made for something, those where nothing came.
void removeEmpty() {
  const auto &all = registry().made;
  for (auto at = all.rbegin(); at != all.rend(); ++at)
    ::rmdir(at->c_str());
}

} // namespace

StatusOr<std::unique_ptr<TemporaryFolder>>
TemporaryFolder::create(const std::string &prefix) {
  std::string pattern = prefix + "XXXXXX";
  std::lock_guard<std::mutex> lock(registry().mutex);
  if (!mkdtemp(pattern.data()))
    return ioError(prefix +
                   ": cannot make a folder here: " + std::strerror(errno));
  auto folder = std::make_unique<TemporaryFolder>();
  folder->folder = pattern;
  registry().folders.insert(pattern);
  return folder;
}

namespace {

constexpr const char *kScratchName = "pipec-";
/// In each scratch folder: a folder of that name alone may be a user's.
constexpr const char *kScratchMark = ".pipec-scratch";

/// Errors do not matter: it is tried again.
void removeStaleScratch(const std::string &place) {
  namespace fs = std::filesystem;
  std::error_code error;
  const size_t length = std::strlen(kScratchName) + 6; // as mkdtemp makes them
  for (fs::directory_iterator at(place, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    const std::string path = at->path().string();
    struct stat info;
    if (name.size() != length || name.rfind(kScratchName, 0) != 0 ||
        ::lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) ||
        info.st_uid != ::geteuid() ||
        ::access((path + "/" + kScratchMark).c_str(), F_OK) != 0)
      continue;
    if (const auto lock = FileLock::take(path); lock.ok())
      removeFolder(path);
  }
}

} // namespace

StatusOr<std::unique_ptr<TemporaryFolder>> TemporaryFolder::createScratch() {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path place = fs::temp_directory_path(error);
  if (error)
    place = "/tmp";
  removeStaleScratch(place.string());
  PIPEC_ASSIGN_OR_RETURN(auto folder, create((place / kScratchName).string()));
  // The mark comes when the lock is there: nobody takes it for a stale one.
  PIPEC_ASSIGN_OR_RETURN(folder->lock, FileLock::take(folder->path()));
  const std::string mark = folder->path() + "/" + kScratchMark;
  const int fd = ::open(mark.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0)
    return ioError(mark + ": " + std::strerror(errno));
  ::close(fd);
  return folder;
}

TemporaryFolder::~TemporaryFolder() {
  if (folder.empty())
    return;
  // Under the lock: two threads in one remove_all() crash in the library.
  std::lock_guard<std::mutex> lock(registry().mutex);
  removeFolder(folder);
  registry().folders.erase(folder);
}

StatusOr<std::unique_ptr<MadeFolder>>
MadeFolder::create(const std::string &path) {
  namespace fs = std::filesystem;
  auto made = std::make_unique<MadeFolder>();
  std::error_code error;
  std::vector<fs::path> missing;
  for (fs::path at = fs::absolute(path, error).lexically_normal();
       !at.empty() && !fs::exists(at, error) && missing.size() < 1000;
       at = at.parent_path())
    if (at.has_filename())
      missing.push_back(at);
  const std::lock_guard<std::mutex> lock(registry().mutex);
  for (auto at = missing.rbegin(); at != missing.rend(); ++at) {
    if (fs::create_directory(*at, error)) {
      made->folders.push_back(at->string());
      registry().made.push_back(at->string());
    } else if (error) {
      return ioError("cannot make the folder '" + path +
                     "': " + error.message());
    }
  }
  return made;
}

MadeFolder::~MadeFolder() {
  const std::lock_guard<std::mutex> lock(registry().mutex);
  auto &all = registry().made;
  for (auto at = folders.rbegin(); at != folders.rend(); ++at) {
    ::rmdir(at->c_str());
    all.erase(std::remove(all.begin(), all.end(), *at), all.end());
  }
}

std::unique_lock<std::mutex> postponeInterrupts() {
  return std::unique_lock<std::mutex>(registry().mutex);
}

void removeTemporariesAndExit(int status) {
  // Not waited for: the caller's thread may hold it.
  if (registry().mutex.try_lock())
    for (const std::string &folder : registry().folders)
      removeFolder(folder);
  removeEmpty();
  _exit(status);
}

void stopWhereInterrupted() {
  while (registry().isInterrupted)
    ::pause(); // until the waiting thread ends the process
}

void removeTemporariesWhenInterrupted() {
  std::signal(SIGXFSZ, SIG_IGN);
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : {SIGINT, SIGTERM, SIGHUP})
    sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([signals] {
    int signal = 0;
    while (sigwait(&signals, &signal) != 0)
      ;
    // Held to the end: no folder is made after those that are removed.
    registry().mutex.lock();
    registry().isInterrupted = true;
    for (const std::string &folder : registry().folders)
      removeFolder(folder);
    removeEmpty();
    _exit(128 + signal);
  }).detach();
}

} // namespace pipec
