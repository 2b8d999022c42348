// Streams weights from where they lie. Plain ones are copied; permuted ones are
// gathered through a window of the mapped file, whose pages are given back as
// it moves on. Tests: test/unit/compiler/PackageWriterTest.cpp.
#include "compiler/WeightStream.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace pipec {
namespace {

constexpr size_t kPiece = 1 << 20;

void releasePages(const void *begin, size_t bytes) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t before =
      (page - reinterpret_cast<uintptr_t>(begin) % page) % page;
  if (bytes < before + page)
    return;
  auto *first = static_cast<uint8_t *>(const_cast<void *>(begin)) + before;
  madvise(first, (bytes - before) / page * page, MADV_DONTNEED);
}

Status streamPlain(const uint8_t *bytes, uint64_t length,
                   SafetensorsWriter &writer) {
  for (uint64_t done = 0; done < length; done += kPiece) {
    size_t piece =
        static_cast<size_t>(std::min<uint64_t>(kPiece, length - done));
    PIPEC_RETURN_IF_ERROR(writer.write(bytes + done, piece));
    releasePages(bytes + done, piece);
  }
  return {};
}

/// Row-major positions of the weight, with the stored byte offset kept up to
/// date.
class PermutedCursor {
public:
  PermutedCursor(const TensorType &type,
                 const std::vector<int64_t> &permutation)
      : shape(type.shape), position(shape.size(), 0), strides(shape.size()) {
    std::vector<int64_t> stored(shape.size());
    for (size_t k = 0; k < shape.size(); ++k)
      stored[permutation[k]] = shape[k];
    std::vector<int64_t> storedStrides(
        shape.size(), static_cast<int64_t>(byteSize(type.dtype)));
    for (size_t k = shape.size(); k-- > 1;)
      storedStrides[k - 1] = storedStrides[k] * stored[k];
    for (size_t k = 0; k < shape.size(); ++k)
      strides[k] = storedStrides[permutation[k]];
  }
  int64_t offset() const { return at; }
  void next() {
    for (size_t k = shape.size(); k-- > 0;) {
      at += strides[k];
      if (++position[k] < shape[k])
        return;
      at -= strides[k] * shape[k];
      position[k] = 0;
    }
  }

private:
  std::vector<int64_t> shape, position, strides;
  int64_t at = 0;
};

Status streamPermuted(const TensorType &type,
                      const std::vector<int64_t> &permutation,
                      const uint8_t *bytes, SafetensorsWriter &writer) {
  size_t element = byteSize(type.dtype);
  std::vector<uint8_t> buffer;
  buffer.reserve(kPiece);
  PermutedCursor cursor(type, permutation);
  for (int64_t n = type.numElements(); n > 0; --n) {
    const uint8_t *from = bytes + cursor.offset();
    buffer.insert(buffer.end(), from, from + element);
    cursor.next();
    if (buffer.size() + element > kPiece || n == 1) {
      PIPEC_RETURN_IF_ERROR(writer.write(buffer.data(), buffer.size()));
      buffer.clear();
    }
  }
  return {};
}

bool isPermutation(const std::vector<int64_t> &permutation, size_t rank) {
  std::vector<bool> seen(rank, false);
  if (permutation.size() != rank)
    return false;
  for (int64_t axis : permutation) {
    if (axis < 0 || axis >= static_cast<int64_t>(rank) || seen[axis])
      return false;
    seen[axis] = true;
  }
  return true;
}

} // namespace

Status streamWeight(const TensorType &type, const WeightSource &source,
                    SafetensorsWriter &writer) {
  if (type.byteSize() == 0)
    return Status();
  const bool permuted = !source.permutation.empty();
  if (permuted && !isPermutation(source.permutation, type.shape.size()))
    return internalError("the stored axes of " + type.str() +
                         " are no permutation");
  if (!source.inMemory.empty()) {
    const auto *bytes = source.inMemory.as<uint8_t>();
    return permuted ? streamPermuted(type, source.permutation, bytes, writer)
                    : writer.write(bytes, type.byteSize());
  }
  if (source.length != type.byteSize())
    return dataLoss(source.file + ": " + std::to_string(source.length) +
                    " bytes, expected " + std::to_string(type.byteSize()) +
                    " for " + type.str());
  PIPEC_ASSIGN_OR_RETURN(auto file, MappedFile::open(source.file));
  PIPEC_ASSIGN_OR_RETURN(const uint8_t *bytes,
                         file->range(source.offset, source.length));
  if (!permuted)
    return streamPlain(bytes, source.length, writer);
  PIPEC_RETURN_IF_ERROR(
      streamPermuted(type, source.permutation, bytes, writer));
  releasePages(bytes, type.byteSize());
  return {};
}

} // namespace pipec
