// Tensor types and tensors: sizes that cannot overflow, aligned memory.
// In: shapes, also hostile ones. Out: sizes, messages, owned or borrowed bytes.
// Tests: test/unit/base/TensorTest.cpp.
#include "pipec/tensor.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace pipec {

int64_t TensorType::numElements() const {
  uint64_t count = 1;
  for (int64_t dim : shape)
    count *= static_cast<uint64_t>(dim);
  return static_cast<int64_t>(count);
}

size_t TensorType::byteSize() const {
  return static_cast<size_t>(numElements()) * pipec::byteSize(dtype);
}

std::string TensorType::str() const {
  std::string text(dtypeName(dtype));
  text += '[';
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? "x" : "") + std::to_string(shape[i]);
  return text + ']';
}

StatusOr<size_t> checkedByteSize(const TensorType &type) {
  const uint64_t limit = uint64_t(1) << 62;
  uint64_t bytes = byteSize(type.dtype);
  if (bytes == 0)
    return dataLoss("tensor type has an element type that pipec does not know");
  // Dimensions of 0 count as 1 here, so that strides of empty tensors fit too.
  bool isEmpty = false;
  for (int64_t dim : type.shape) {
    if (dim < 0)
      return invalidArgument("tensor type " + type.str() +
                             " has a negative dimension");
    isEmpty |= dim == 0;
    const uint64_t factor = std::max<uint64_t>(1, static_cast<uint64_t>(dim));
    if (bytes > limit / factor)
      return invalidArgument("tensor type " + type.str() +
                             " needs more than 2^62 bytes");
    bytes *= factor;
  }
  return isEmpty ? size_t(0) : static_cast<size_t>(bytes);
}

StatusOr<Tensor> Tensor::allocate(TensorType type) {
  PIPEC_ASSIGN_OR_RETURN(const size_t bytes, checkedByteSize(type));
  // Never zero bytes: an empty tensor still has an address.
  const size_t rounded = (std::max<size_t>(bytes, 1) + 63) / 64 * 64;
  void *data = std::aligned_alloc(64, rounded);
  if (!data)
    return resourceExhausted("out of memory: " + std::to_string(bytes) +
                             " bytes for a tensor " + type.str());
  Tensor tensor;
  tensor.owner = std::shared_ptr<const void>(
      data, [](const void *p) { std::free(const_cast<void *>(p)); });
  tensor.view_ = {std::move(type), data};
  return tensor;
}

Tensor Tensor::wrap(TensorType type, void *data,
                    std::shared_ptr<const void> owner) {
  Tensor tensor;
  tensor.view_ = {std::move(type), data};
  tensor.owner = std::move(owner);
  return tensor;
}

StatusOr<Tensor> Tensor::copyOf(TensorType type, const void *bytes) {
  PIPEC_ASSIGN_OR_RETURN(Tensor tensor, allocate(std::move(type)));
  if (const size_t size = tensor.byteSize())
    std::memcpy(tensor.data(), bytes, size);
  return tensor;
}

} // namespace pipec
