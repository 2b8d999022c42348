// Folders that exist only while something is being made, and their removal when
// the process is interrupted.
#ifndef PIPEC_RUNTIME_BASE_TEMPORARIES_H
#define PIPEC_RUNTIME_BASE_TEMPORARIES_H

#include "runtime/base/file_lock.h"

#include <memory>
#include <mutex>
#include <vector>

namespace pipec {

/// A new folder, removed with all that it holds at the end of its life unless
/// it was renamed before. Thread rule: one thread an object.
class TemporaryFolder {
public:
  /// Makes PREFIXxxxxxx. An error names the place and the reason.
  static StatusOr<std::unique_ptr<TemporaryFolder>>
  create(const std::string &prefix);
  /// One in the system's folder for temporary files. Those that killed
  /// processes of this user left there go first: a lock tells them from the
  /// ones of live processes.
  static StatusOr<std::unique_ptr<TemporaryFolder>> createScratch();
  ~TemporaryFolder();
  const std::string &path() const { return folder; }

private:
  std::string folder;
  std::unique_ptr<FileLock> lock; // of a scratch folder
};

/// A folder that is made for what may come into it. Thread rule: one thread an
/// object.
class MadeFolder {
public:
  /// Makes `path` and what it lies in, as far as it is missing. An error names
  /// the place and the reason.
  static StatusOr<std::unique_ptr<MadeFolder>> create(const std::string &path);
  /// What was made and is empty goes, and so it does in an interrupt.
  ~MadeFolder();

private:
  std::vector<std::string> folders; // each in the one before
};

/// While what this returns lives, an interrupt waits: a result gets its name
/// whole or not at all. No TemporaryFolder may be made or end meanwhile.
[[nodiscard]] std::unique_lock<std::mutex> postponeInterrupts();

/// Removes all temporary folders and ends the process with `status`, without
/// running anything else: for where it cannot go on.
[[noreturn]] void removeTemporariesAndExit(int status);

/// From now on SIGINT, SIGTERM and SIGHUP remove all temporary folders and end
/// the process with status 128 + signal; a file that grows over its limit is an
/// error to its writer instead of a signal. Call before any thread is made.
void removeTemporariesWhenInterrupted();

/// Returns unless such a signal is ending the process, and then never does:
/// what fails because its folder is gone is no error to tell of.
void stopWhereInterrupted();

} // namespace pipec

#endif // PIPEC_RUNTIME_BASE_TEMPORARIES_H
