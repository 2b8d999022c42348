// Files as read-only memory: only pages that are touched are read.
#ifndef PIPEC_RUNTIME_BASE_MAPPED_FILE_H
#define PIPEC_RUNTIME_BASE_MAPPED_FILE_H

#include "pipec/status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace pipec {

/// A regular file mapped read-only for the object's life. A file that is made
/// shorter meanwhile has no bytes there any more: reading them is a SIGBUS,
/// which ends the process. Thread rule: immutable.
class MappedFile {
public:
  /// Errors (Io) name the path and the reason; a directory or device is
  /// refused.
  static StatusOr<std::shared_ptr<const MappedFile>>
  open(const std::string &path);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  const uint8_t *data() const { return bytes; }
  uint64_t size() const { return length; }
  const std::string &path() const { return name; }
  /// Time of the last change when the file was opened, in ns since the epoch.
  int64_t mtimeNs() const { return changed; }
  /// The bytes [offset, offset + count), or an error (DataLoss) that names
  /// file, range and size. Never overflows.
  StatusOr<const uint8_t *> range(uint64_t offset, uint64_t count) const;
  /// The pages of these bytes, which lie in the file, leave memory; whoever
  /// reads them again reads the file again.
  void release(uint64_t offset, uint64_t count) const;

private:
  MappedFile() = default;
  std::string name;
  std::string shown;     // for the message of a signal handler
  void *place = nullptr; // in the list that it looks into
  const uint8_t *bytes = nullptr;
  uint64_t length = 0;
  int64_t changed = 0;
};

/// From now on such a SIGBUS is one message on stderr, and `end` is called with
/// status 1; it must not return. Others go to the handler that was there
/// before. For programs: a library leaves signals to whoever links it.
void reportMappedFilesThatShrink(void (*end)(int status));

} // namespace pipec

#endif
