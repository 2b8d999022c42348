// A package's files, from a folder (mapped) or from memory.
// In: paths relative to the package; out: their bytes, or an Io error.
// Tests: test/unit/runtime/PackageTest.cpp; the memory form serves
// test/fuzz/package.
#include "runtime/package/files.h"

#include "runtime/base/mapped_file.h"

#include <filesystem>

namespace pipec {
namespace {

class FolderFiles : public PackageFiles {
public:
  explicit FolderFiles(std::string path) : folder(std::move(path)) {
    while (folder.size() > 1 && folder.back() == '/')
      folder.pop_back();
  }
  const std::string &root() const override { return folder; }
  bool hasFolder(const std::string &name) const override {
    std::error_code error;
    return std::filesystem::is_directory(folder + "/" + name, error);
  }
  StatusOr<FileBytes> read(const std::string &name) const override {
    PIPEC_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file,
                           MappedFile::open(folder + "/" + name));
    FileBytes bytes;
    bytes.data = file->data();
    bytes.size = file->size();
    bytes.owner = std::move(file);
    return bytes;
  }

private:
  std::string folder;
};

class MemoryFiles : public PackageFiles {
public:
  explicit MemoryFiles(std::map<std::string, std::string> contents)
      : contents(std::move(contents)) {}
  const std::string &root() const override { return name; }
  bool hasFolder(const std::string &folder) const override {
    auto it = contents.lower_bound(folder + "/");
    return it != contents.end() && it->first.rfind(folder + "/", 0) == 0;
  }
  StatusOr<FileBytes> read(const std::string &file) const override {
    auto it = contents.find(file);
    if (it == contents.end())
      return ioError(name + "/" + file + ": no such file");
    FileBytes bytes;
    bytes.data = reinterpret_cast<const uint8_t *>(it->second.data());
    bytes.size = it->second.size();
    return bytes;
  }

private:
  std::string name = "memory.pipe";
  std::map<std::string, std::string> contents;
};

} // namespace

std::unique_ptr<PackageFiles> folderFiles(const std::string &path) {
  return std::make_unique<FolderFiles>(path);
}

std::unique_ptr<PackageFiles>
memoryFiles(std::map<std::string, std::string> contents) {
  return std::make_unique<MemoryFiles>(std::move(contents));
}

} // namespace pipec
