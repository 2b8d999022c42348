// safetensors files: reading by map, writing by stream.
//
// Format: https://github.com/huggingface/safetensors. A reader treats the file
// as hostile: header size, JSON, dtypes, shapes, offsets, overlaps and holes
// are checked.
#ifndef PIPEC_RUNTIME_BASE_SAFETENSORS_H
#define PIPEC_RUNTIME_BASE_SAFETENSORS_H

#include "pipec/tensor.h"
#include "runtime/base/digest.h"
#include "runtime/base/mapped_file.h"

#include <cstdio>

namespace pipec {

/// An opened file. Tensors alias the map and keep it alive. Thread rule:
/// immutable.
class SafetensorsFile {
public:
  static StatusOr<SafetensorsFile> open(const std::string &path);

  /// Names in the order of their offsets.
  const std::vector<std::string> &names() const { return order; }
  bool contains(const std::string &name) const {
    return entries.count(name) != 0;
  }
  /// Null when there is none of that name.
  const TensorType *find(const std::string &name) const;
  /// Aliases the map; a copy where the file leaves the data misaligned for its
  /// type.
  StatusOr<Tensor> get(const std::string &name) const;
  /// Byte offset in the file of `name`'s data.
  StatusOr<uint64_t> offsetOf(const std::string &name) const;
  const std::map<std::string, std::string> &metadata() const { return meta; }
  const std::string &path() const { return file->path(); }
  /// Reads all of a sealed file and compares it with its digest; others pass.
  /// DataLoss.
  Status checkSeal() const;

private:
  struct Entry {
    TensorType type;
    uint64_t offset;
  };
  std::shared_ptr<const MappedFile> file;
  std::map<std::string, Entry> entries;
  std::vector<std::string> order;
  std::map<std::string, std::string> meta;
};

/// Opens and returns every tensor.
StatusOr<TensorMap> loadSafetensors(const std::string &path);

/// Streams a file: all names and types first, then the data of each in the same
/// order. Writes to a temporary name beside `path` and renames in finish(); an
/// object destroyed before finish() leaves nothing behind.
class SafetensorsWriter {
public:
  struct Item {
    std::string name;
    TensorType type;
  };
  /// Whether the file carries a digest of itself, in its metadata.
  enum class Seal { No, Yes };
  /// `overwrite` false: an existing `path` is an error.
  static StatusOr<std::unique_ptr<SafetensorsWriter>>
  create(const std::string &path, const std::vector<Item> &items,
         bool overwrite, std::map<std::string, std::string> metadata = {},
         Seal seal = Seal::No);
  ~SafetensorsWriter();
  /// Appends the next `size` bytes of the data section, in item order, in
  /// pieces of any size.
  Status write(const void *data, size_t size);
  /// Checks that all data came, flushes and renames.
  Status finish();

private:
  SafetensorsWriter() = default;
  std::string path, temporary;
  std::FILE *file = nullptr;
  uint64_t expected = 0, written = 0;
  size_t sealOffset = 0; // in the file; 0: not sealed
  Digest digest;
  bool overwrite = false;
};

/// Writes all tensors of `tensors`.
Status saveSafetensors(const std::string &path, const TensorMap &tensors,
                       bool overwrite);

} // namespace pipec

#endif
