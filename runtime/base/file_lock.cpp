// Locks by flock: see file_lock.h. In: a path. Out: a lock, or who has it.
// Tests: test/unit/base/FileLockTest.cpp, test/e2e/cli/two-runs.test.
#include "runtime/base/file_lock.h"

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace pipec {
namespace {

/// The process that has a lock on `file`, by /proc/locks; 0 where that does not
/// tell.
long ownerOf(const struct stat &file) {
  std::ifstream locks("/proc/locks");
  long byInode = 0;
  std::string line;
  while (std::getline(locks, line)) {
    long process = 0;
    unsigned major = 0, minor = 0;
    uint64_t inode = 0;
    if (std::sscanf(line.c_str(), "%*d: FLOCK %*s %*s %ld %x:%x:%" SCNu64,
                    &process, &major, &minor, &inode) != 4 ||
        inode != file.st_ino)
      continue;
    byInode = process; // some file systems show another device
    if (major == ::major(file.st_dev) && minor == ::minor(file.st_dev))
      return process;
  }
  return byInode > 0 ? byInode : 0;
}

std::string commandOf(long process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/cmdline",
                     std::ios::binary);
  std::string word, text;
  while (std::getline(file, word, '\0') && text.size() < 120)
    text += (text.empty() ? "" : " ") + word;
  return text;
}

Status held(const std::string &path, const struct stat &file) {
  const long process = ownerOf(file);
  std::string who = "another process";
  if (process > 0) {
    const std::string command = commandOf(process);
    who = "process " + std::to_string(process) +
          (command.empty() ? "" : " (" + command + ")");
  }
  return ioError("'" + path + "' is in use by " + who +
                 "; wait for it or give another path");
}

} // namespace

StatusOr<std::unique_ptr<FileLock>> FileLock::take(const std::string &path) {
  for (;;) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat opened, named;
    if (fd < 0 || ::fstat(fd, &opened) != 0) {
      const Status failed = ioError("'" + path + "': " + std::strerror(errno));
      if (fd >= 0)
        ::close(fd);
      return failed;
    }
    std::unique_ptr<FileLock> lock(new FileLock(fd));
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
      return held(path, opened);
    // Whoever had it may have removed it meanwhile: then what is there now.
    if (::stat(path.c_str(), &named) == 0 && named.st_ino == opened.st_ino &&
        named.st_dev == opened.st_dev)
      return lock;
    if (errno == ENOENT)
      return ioError("'" + path + "': " + std::strerror(ENOENT));
  }
}

FileLock::~FileLock() { ::close(fd); }

} // namespace pipec
