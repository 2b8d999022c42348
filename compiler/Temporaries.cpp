// Temporary folders and a thread that waits for the signals that end us: a
// signal handler itself may not remove folders.
// Tests: test/e2e/cli/interrupt.test.
#include "compiler/Temporaries.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>
#include <unistd.h>

namespace fs = std::filesystem;

namespace pipec {
namespace {

struct Registry {
  std::mutex mutex;
  std::set<std::string> folders;
};

Registry &registry() {
  static Registry *held = new Registry; // outlives the waiting thread
  return *held;
}

/// Another thread may be writing into the folder and so add to it while it is
/// removed; once its subfolder is gone, its writes fail.
void removeFolder(const std::string &folder) {
  constexpr int kAttempts = 1000;
  std::error_code error;
  for (int i = 0; i < kAttempts; ++i) {
    fs::remove_all(folder, error);
    if (!error)
      return;
  }
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

TemporaryFolder::~TemporaryFolder() {
  if (folder.empty())
    return;
  // Under the lock: two threads in one remove_all() crash in the library.
  std::lock_guard<std::mutex> lock(registry().mutex);
  removeFolder(folder);
  registry().folders.erase(folder);
}

std::unique_lock<std::mutex> postponeInterrupts() {
  return std::unique_lock<std::mutex>(registry().mutex);
}

void removeTemporariesAndExit(int status) {
  // Not waited for: the caller's thread may hold it.
  if (registry().mutex.try_lock())
    for (const std::string &folder : registry().folders)
      removeFolder(folder);
  _exit(status);
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
    for (const std::string &folder : registry().folders)
      removeFolder(folder);
    _exit(128 + signal);
  }).detach();
}

} // namespace pipec
