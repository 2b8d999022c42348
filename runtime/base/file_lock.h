// Locks on what one run alone may write to.
#ifndef PIPEC_RUNTIME_BASE_FILE_LOCK_H
#define PIPEC_RUNTIME_BASE_FILE_LOCK_H

#include "pipec/status.h"

#include <memory>
#include <string>

namespace pipec {

/// A file or folder that this process holds against others of ours, until the
/// object goes or the process ends, however it does (flock). Nothing is written
/// for it. Thread rule: one thread.
class FileLock {
public:
  /// Of what is at `path`, which must be there. An error where another process
  /// has it, which names that process; a file system without locks gives one
  /// that holds nothing.
  static StatusOr<std::unique_ptr<FileLock>> take(const std::string &path);
  ~FileLock();
  FileLock(const FileLock &) = delete;
  FileLock &operator=(const FileLock &) = delete;

private:
  explicit FileLock(int fd) : fd(fd) {}
  int fd;
};

} // namespace pipec

#endif
