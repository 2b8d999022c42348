// See write_target.h. A check beforehand is for the message and the time saved:
// writing itself may still fail, and then says so.
// Tests: test/unit/base/WriteTargetTest.cpp, test/e2e/cli/targets.test.
#include "runtime/base/write_target.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pipec {
namespace {

/// "." where `path` is a name alone; "" never.
std::string parentOf(const std::string &path) {
  size_t end = path.find_last_not_of('/');
  size_t slash = end == std::string::npos ? end : path.rfind('/', end);
  if (slash == std::string::npos)
    return !path.empty() && path[0] == '/' ? "/" : ".";
  size_t last = path.find_last_not_of('/', slash);
  return last == std::string::npos ? "/" : path.substr(0, last + 1);
}

/// Permissions do not tell all: nothing can be made in /proc, by nobody. 0 or
/// an errno; nothing is left.
int tryToMake(const std::string &folder) {
  const int fd = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (fd >= 0) {
    ::close(fd);
    return 0;
  }
  // Not every file system has files without names.
  std::string name = folder + "/.pipec-XXXXXX";
  if (!::mkdtemp(name.data()))
    return errno;
  ::rmdir(name.c_str());
  return 0;
}

Status checkFolder(const std::string &folder) {
  struct stat info;
  if (::stat(folder.c_str(), &info) != 0)
    return errno == ENOENT
               ? ioError("the folder '" + folder +
                         "' does not exist; create it or give another path")
               : ioError("the folder '" + folder +
                         "': " + std::strerror(errno));
  if (!S_ISDIR(info.st_mode))
    return ioError("'" + folder + "' is no folder; give another path");
  int error = ::access(folder.c_str(), W_OK | X_OK) == 0 ? 0 : errno;
  if (!error)
    error = tryToMake(folder);
  return error ? ioError("the folder '" + folder +
                         "' cannot be written to: " + std::strerror(error))
               : Status();
}

constexpr int kMostLinks = 40; // the system's own limit

/// /proc/<process>/fd/<n>, what /dev/stdout and /dev/fd/<n> lead to. What it
/// reads as is text for people: the file may have no such name any more.
bool isOpenFile(const std::string &path) {
  return path.rfind("/proc/", 0) == 0 && path.find("/fd/") != std::string::npos;
}

/// What the link at `path` names; empty where it is none.
std::string linkTarget(const std::string &path) {
  std::string text(4096, '\0');
  const ssize_t size = ::readlink(path.c_str(), text.data(), text.size());
  if (size < 0)
    return "";
  text.resize(static_cast<size_t>(size));
  return text[0] == '/' ? text : parentOf(path) + "/" + text;
}

/// One that is not there is no error: it is made, if its folder can be.
Status notThere(const std::string &path, int error) {
  struct stat info;
  if (error != ENOENT && error != ENOTDIR) // that, the folder's check says
    return ioError("'" + path + "': " + std::strerror(error));
  return ::lstat(path.c_str(), &info) == 0
             ? ioError("'" + path +
                       "' is a link to what is not there; remove "
                       "it or give another path")
             : Status();
}

} // namespace

StatusOr<std::string> followLinks(const std::string &path) {
  std::string at = path;
  for (int i = 0; i < kMostLinks; ++i) {
    const std::string next = linkTarget(at);
    if (next.empty())
      return at;
    if (isOpenFile(at))
      return ioError("'" + path +
                     "' is an open file of this process, and no "
                     "file that can be replaced; give the path of a file");
    at = next;
  }
  return ioError("'" + path +
                 "' is a link that leads nowhere; remove it or "
                 "give another path");
}

bool isStream(const std::string &path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0 || S_ISDIR(info.st_mode))
    return false;
  return !S_ISREG(info.st_mode) || !followLinks(path).ok();
}

Status checkParentFolder(const std::string &path) {
  return checkFolder(parentOf(path));
}

Status checkFolderTarget(const std::string &path) {
  struct stat info;
  std::string at = path;
  while (::stat(at.c_str(), &info) != 0 && at != "/" && at != ".") {
    PIPEC_RETURN_IF_ERROR(notThere(at, errno));
    at = parentOf(at);
  }
  return checkFolder(at);
}

Status checkFileTarget(const std::string &path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0)
    return errno == ENOENT || errno == ENOTDIR
               ? checkParentFolder(path)
               : ioError("'" + path + "': " + std::strerror(errno));
  if (S_ISDIR(info.st_mode))
    return ioError("'" + path + "' is a folder; give the path of a file");
  return ::access(path.c_str(), W_OK) == 0
             ? Status()
             : ioError("'" + path +
                       "' cannot be written to: " + std::strerror(errno));
}

Status checkWholeFileTarget(const std::string &path) {
  struct stat info;
  const bool isThere = ::stat(path.c_str(), &info) == 0;
  if (isThere && !S_ISDIR(info.st_mode) && !S_ISREG(info.st_mode))
    return ioError("'" + path + "' is no regular file; give the path of one");
  PIPEC_ASSIGN_OR_RETURN(const std::string target, followLinks(path));
  return isThere && S_ISREG(info.st_mode) ? checkParentFolder(target)
                                          : checkFileTarget(target);
}

} // namespace pipec
