// Maps a regular file read-only. In: a path. Out: its bytes, and ranges of them
// that are checked against the size.
// Tests: test/unit/base/MappedFileTest.cpp.
#include "runtime/base/mapped_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pipec {
namespace {

Status failed(const std::string &path, int error) {
  return ioError("cannot read '" + path + "': " + std::strerror(error));
}

// What data() of an empty file points at: nothing can be mapped there.
const uint8_t kNothing[1] = {0};

} // namespace

StatusOr<std::shared_ptr<const MappedFile>>
MappedFile::open(const std::string &path) {
  // O_NONBLOCK: opening a pipe must not wait for its writer before it is
  // refused below.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return failed(path, errno);
  struct stat info;
  if (::fstat(fd, &info) != 0) {
    const int error = errno;
    ::close(fd);
    return failed(path, error);
  }
  if (!S_ISREG(info.st_mode)) {
    ::close(fd);
    return ioError("cannot read '" + path + "': not a regular file");
  }
  std::shared_ptr<MappedFile> file(new MappedFile);
  file->name = path;
  file->bytes = kNothing;
  file->changed =
      int64_t(info.st_mtim.tv_sec) * 1000000000 + info.st_mtim.tv_nsec;
  if (info.st_size > 0) {
    void *map = ::mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ,
                       MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED) {
      const int error = errno;
      ::close(fd);
      return failed(path, error);
    }
    file->bytes = static_cast<const uint8_t *>(map);
    file->length = static_cast<uint64_t>(info.st_size);
  }
  ::close(fd);
  return std::shared_ptr<const MappedFile>(std::move(file));
}

MappedFile::~MappedFile() {
  if (length)
    ::munmap(const_cast<uint8_t *>(bytes), length);
}

StatusOr<const uint8_t *> MappedFile::range(uint64_t offset,
                                            uint64_t count) const {
  if (offset > length || count > length - offset)
    return dataLoss("'" + name + "': bytes " + std::to_string(offset) + " to " +
                    std::to_string(offset) + " + " + std::to_string(count) +
                    " are outside the file of " + std::to_string(length) +
                    " bytes");
  return bytes + offset;
}

void MappedFile::release(uint64_t offset, uint64_t count) const {
  if (offset >= length || !count)
    return;
  static const uint64_t page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const uint64_t start = offset / page * page;
  const uint64_t end = offset + std::min(count, length - offset);
  // An advice: where it is not taken, memory goes later.
  (void)::madvise(const_cast<uint8_t *>(bytes) + start,
                  static_cast<size_t>(end - start), MADV_DONTNEED);
}

} // namespace pipec
