// Writes safetensors files as a stream. In: names and types, then bytes. Out: a
// file that appears under its name only when it is whole.
//
// The bytes go to a temporary file in the same folder, which is synced to the
// disk and renamed; without `overwrite` the rename itself refuses to replace.
// Tests: test/unit/base/SafetensorsWriterTest.cpp.
#include "runtime/base/safetensors.h"
#include "runtime/base/safetensors_header.h"
#include "runtime/base/write_target.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace pipec {
namespace {

using Item = SafetensorsWriter::Item;

Status failed(const std::string &path, const char *what, int error) {
  return ioError(std::string("cannot ") + what + " '" + path +
                 "': " + std::strerror(error));
}

Status alreadyThere(const std::string &path) {
  return ioError("'" + path +
                 "' exists already and is not overwritten unless asked");
}

std::string folderOf(const std::string &path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

// The length prefix and the JSON, padded so that data begins at a multiple of
// 8; the data's size in `dataBytes`.
StatusOr<std::string>
makeHeader(const std::vector<Item> &items,
           const std::map<std::string, std::string> &metadata,
           uint64_t &dataBytes) {
  const uint64_t limit = uint64_t(1) << 62;
  std::set<std::string> names;
  std::string text;
  dataBytes = 0;
  try {
    if (!metadata.empty())
      text = "\"__metadata__\":" + nlohmann::json(metadata).dump();
    for (const Item &item : items) {
      if (item.name == "__metadata__")
        return invalidArgument("a safetensors file cannot hold a tensor named "
                               "'__metadata__'; give it another name");
      if (!names.insert(item.name).second)
        return invalidArgument(
            "a safetensors file cannot hold two tensors named '" + item.name +
            "'");
      PIPEC_ASSIGN_OR_RETURN(const size_t bytes, checkedByteSize(item.type));
      if (bytes > limit - dataBytes)
        return invalidArgument("the tensors need more than 2^62 bytes");
      text += (text.empty() ? "" : ",") + nlohmann::json(item.name).dump() +
              ":{\"dtype\":\"" + std::string(safetensorsName(item.type.dtype)) +
              "\",\"shape\":" + nlohmann::json(item.type.shape).dump() +
              ",\"data_offsets\":[" + std::to_string(dataBytes) + "," +
              std::to_string(dataBytes + bytes) + "]}";
      dataBytes += bytes;
    }
  } catch (const std::exception &e) {
    return invalidArgument(
        std::string("a tensor name or metadata cannot be written as JSON: ") +
        e.what());
  }
  text = "{" + text + "}";
  text.append((8 - text.size() % 8) % 8, ' ');
  std::string prefix(8, '\0');
  for (int i = 0; i < 8; ++i)
    prefix[i] =
        static_cast<char>(static_cast<uint64_t>(text.size()) >> (8 * i) & 0xff);
  return prefix + text;
}

// Creates a file in the folder of `path` under a name nobody has.
StatusOr<int> openTemporary(const std::string &path, std::string &name) {
  static std::atomic<uint64_t> counter{0};
  for (int attempt = 0; attempt < 1000; ++attempt) {
    name = folderOf(path) + "/.pipec-" + std::to_string(::getpid()) + "-" +
           std::to_string(counter++) + ".tmp";
    const int fd =
        ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0)
      return fd;
    if (errno != EEXIST)
      return failed(path, "write", errno);
  }
  return failed(path, "write", EEXIST);
}

// rename() that replaces nothing, on file systems without RENAME_NOREPLACE too.
int renameNew(const std::string &from, const std::string &to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(),
                  RENAME_NOREPLACE) == 0)
    return 0;
  if (errno != EINVAL && errno != ENOSYS)
    return errno;
  if (::link(from.c_str(), to.c_str()) != 0)
    return errno;
  ::unlink(from.c_str());
  return 0;
}

Status syncFolder(const std::string &path) {
  const int fd =
      ::open(folderOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return failed(path, "sync the folder of", errno);
  const int error = ::fsync(fd) == 0 || errno == EINVAL ? 0 : errno;
  ::close(fd);
  return error ? failed(path, "sync the folder of", error) : Status();
}

} // namespace

StatusOr<std::unique_ptr<SafetensorsWriter>> SafetensorsWriter::create(
    const std::string &path, const std::vector<Item> &items, bool overwrite,
    std::map<std::string, std::string> metadata, Seal seal) {
  std::unique_ptr<SafetensorsWriter> writer(new SafetensorsWriter);
  if (seal == Seal::Yes)
    metadata[safetensors::kSealKey] = safetensors::kNoSeal;
  PIPEC_ASSIGN_OR_RETURN(const std::string header,
                         makeHeader(items, metadata, writer->expected));
  struct stat info;
  if (::lstat(path.c_str(), &info) == 0) {
    if (!overwrite)
      return alreadyThere(path);
    if (!S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode))
      return ioError("cannot write '" + path +
                     "': it exists and is not a regular file");
  }
  PIPEC_RETURN_IF_ERROR(checkWholeFileTarget(path));
  // Beside what a link names, which it then takes the place of.
  PIPEC_ASSIGN_OR_RETURN(writer->path, followLinks(path));
  writer->overwrite = overwrite;
  std::string temporary;
  PIPEC_ASSIGN_OR_RETURN(const int fd, openTemporary(writer->path, temporary));
  writer->temporary = temporary;
  writer->file = ::fdopen(fd, "wb");
  if (!writer->file) {
    const int error = errno;
    ::close(fd);
    return failed(path, "write", error);
  }
  if (std::fwrite(header.data(), 1, header.size(), writer->file) !=
      header.size())
    return failed(path, "write", errno);
  if (seal == Seal::Yes) {
    writer->sealOffset = safetensors::findSeal(header);
    writer->digest.add(header.data(), header.size());
  }
  return writer;
}

SafetensorsWriter::~SafetensorsWriter() {
  if (file)
    std::fclose(file);
  if (!temporary.empty())
    ::unlink(temporary.c_str());
}

Status SafetensorsWriter::write(const void *data, size_t size) {
  if (!file)
    return internalError("'" + path + "': written to after it was finished");
  if (size > expected - written)
    return invalidArgument("'" + path + "': more data than the " +
                           std::to_string(expected) +
                           " bytes that its tensors need");
  if (size && std::fwrite(data, 1, size, file) != size)
    return failed(path, "write", errno);
  if (sealOffset)
    digest.add(data, size);
  written += size;
  return Status();
}

Status SafetensorsWriter::finish() {
  if (!file)
    return internalError("'" + path + "': finished twice");
  if (written != expected)
    return invalidArgument("'" + path + "': " + std::to_string(written) +
                           " bytes of data came, its tensors need " +
                           std::to_string(expected));
  if (std::fflush(file) != 0)
    return failed(path, "write", errno);
  if (const std::string hex = digest.hex();
      sealOffset && ::pwrite(::fileno(file), hex.data(), hex.size(),
                             static_cast<off_t>(sealOffset)) !=
                        static_cast<ssize_t>(hex.size()))
    return failed(path, "write", errno);
  if (::fsync(::fileno(file)) != 0)
    return failed(path, "write", errno);
  const int closed = std::fclose(file);
  file = nullptr;
  if (closed != 0)
    return failed(path, "write", errno);
  if (overwrite) {
    if (std::rename(temporary.c_str(), path.c_str()) != 0)
      return failed(path, "write", errno);
  } else if (const int error = renameNew(temporary, path)) {
    return error == EEXIST ? alreadyThere(path) : failed(path, "write", error);
  }
  temporary.clear();
  return syncFolder(path);
}

Status saveSafetensors(const std::string &path, const TensorMap &tensors,
                       bool overwrite) {
  // Wide element types first, as the format's own library does: every tensor is
  // then aligned.
  std::vector<const TensorMap::value_type *> order;
  order.reserve(tensors.size());
  for (const auto &entry : tensors)
    order.push_back(&entry);
  std::stable_sort(order.begin(), order.end(), [](auto *a, auto *b) {
    return byteSize(a->second.dtype()) > byteSize(b->second.dtype());
  });
  std::vector<Item> items;
  items.reserve(order.size());
  for (auto *entry : order)
    items.push_back({entry->first, entry->second.type()});
  PIPEC_ASSIGN_OR_RETURN(auto writer,
                         SafetensorsWriter::create(path, items, overwrite));
  for (auto *entry : order)
    PIPEC_RETURN_IF_ERROR(
        writer->write(entry->second.data(), entry->second.byteSize()));
  return writer->finish();
}

} // namespace pipec
