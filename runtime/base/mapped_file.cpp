// Maps a regular file read-only. In: a path. Out: its bytes, and ranges of them
// that are checked against the size.
// Tests: test/unit/base/MappedFileTest.cpp.
#include "runtime/base/mapped_file.h"

#include "runtime/base/printable.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
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

/// What is mapped, for a signal handler, which may take no lock: entries are
/// added in front, never freed, and used again.
struct Mapping {
  std::atomic<uintptr_t> begin{0}, end{0}; // equal: unused
  std::atomic<const char *> path{nullptr};
  std::atomic<bool> isTaken{false};
  Mapping *next = nullptr;
};
std::atomic<Mapping *> mappings{nullptr};

Mapping *takeMapping() {
  for (Mapping *at = mappings; at; at = at->next)
    if (!at->isTaken.exchange(true))
      return at;
  auto *fresh = new Mapping;
  fresh->isTaken = true;
  fresh->next = mappings;
  while (!mappings.compare_exchange_weak(fresh->next, fresh))
    ;
  return fresh;
}

void (*endProcess)(int status) = nullptr;
struct sigaction before; // who had SIGBUS until then

void say(const char *text) {
  size_t left = std::strlen(text);
  while (left) {
    const ssize_t written = ::write(STDERR_FILENO, text, left);
    if (written <= 0)
      return;
    text += written;
    left -= static_cast<size_t>(written);
  }
}

void onBusError(int signal, siginfo_t *info, void *context) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  for (Mapping *at = mappings; at; at = at->next)
    if (address >= at->begin && address < at->end) {
      say("pipec: error: '");
      say(at->path);
      say("' became shorter while it was read, or its disk failed; run again "
          "when it is whole\n");
      endProcess(1);
      _exit(1);
    }
  if (before.sa_flags & SA_SIGINFO)
    return before.sa_sigaction(signal, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    return before.sa_handler(signal);
  ::signal(SIGBUS, SIG_DFL); // comes again when we return
}

} // namespace

void reportMappedFilesThatShrink(void (*end)(int status)) {
  endProcess = end;
  struct sigaction action = {};
  action.sa_sigaction = onBusError;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  ::sigaction(SIGBUS, &action, &before);
}

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
    file->shown = printable(path);
    Mapping *place = takeMapping();
    file->place = place;
    place->path = file->shown.c_str();
    place->end = reinterpret_cast<uintptr_t>(map) + file->length;
    place->begin = reinterpret_cast<uintptr_t>(map);
  }
  ::close(fd);
  return std::shared_ptr<const MappedFile>(std::move(file));
}

MappedFile::~MappedFile() {
  if (!length)
    return;
  auto *mapping = static_cast<Mapping *>(place);
  mapping->begin = mapping->end.load();
  ::munmap(const_cast<uint8_t *>(bytes), length);
  mapping->isTaken = false;
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
