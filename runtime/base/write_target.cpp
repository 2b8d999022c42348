// See write_target.h. A check beforehand is for the message and the time saved:
// writing itself may still fail, and then says so.
// Tests: test/unit/base/WriteTargetTest.cpp, test/e2e/cli/targets.test.
#include "runtime/base/write_target.h"

#include <cerrno>
#include <cstring>
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
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return ioError("the folder '" + folder +
                   "' cannot be written to: " + std::strerror(errno));
  return Status();
}

} // namespace

Status checkParentFolder(const std::string &path) {
  return checkFolder(parentOf(path));
}

Status checkFolderTarget(const std::string &path) {
  struct stat info;
  std::string at = path;
  while (::stat(at.c_str(), &info) != 0 && errno == ENOENT && at != "/" &&
         at != ".")
    at = parentOf(at);
  return checkFolder(at);
}

Status checkFileTarget(const std::string &path) {
  struct stat info;
  if (::stat(path.c_str(), &info) == 0)
    return S_ISDIR(info.st_mode)
               ? ioError("'" + path + "' is a folder; give the path of a file")
               : Status();
  return checkParentFolder(path);
}

} // namespace pipec
