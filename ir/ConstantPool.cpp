// The constant pool: append-only pieces at 64-byte aligned offsets, equal
// contents once. In: tensors of constant folding. Out: offsets that
// `#pipe.source<"@pool", ...>` holds, and the bytes again.
// Tests: test/unit/ir/ConstantPoolTest.cpp.
#include "ir/ConstantPool.h"
#include "ir/PipeDialect.h"

#include "llvm/Support/xxhash.h"

#include <cstring>

namespace pipec::pipe {

ConstantPool &ConstantPool::get(mlir::MLIRContext *context) {
  return context->getOrLoadDialect<PipeDialect>()->getConstantPool();
}

uint64_t ConstantPool::add(const Tensor &tensor) {
  constexpr uint64_t kAlignment = 64;
  size_t size = tensor.byteSize();
  uint64_t hash = llvm::xxh3_64bits(
      llvm::ArrayRef(static_cast<const uint8_t *>(tensor.data()), size));
  std::lock_guard<std::mutex> lock(mutex);
  auto [first, last] = hashes.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    const Tensor &piece = pieces.at(it->second);
    if (piece.byteSize() == size &&
        (size == 0 || std::memcmp(piece.data(), tensor.data(), size) == 0))
      return it->second;
  }
  uint64_t offset = end;
  pieces.emplace(offset, tensor);
  hashes.emplace(hash, offset);
  // An empty piece takes a place too, so that offsets stay distinct.
  end +=
      (std::max<uint64_t>(size, 1) + kAlignment - 1) / kAlignment * kAlignment;
  return offset;
}

const void *ConstantPool::find(uint64_t offset, uint64_t length) const {
  std::lock_guard<std::mutex> lock(mutex);
  auto it = pieces.find(offset);
  if (it == pieces.end() || length > it->second.byteSize())
    return nullptr;
  return it->second.data();
}

StatusOr<Tensor> ConstantPool::tensor(uint64_t offset,
                                      const TensorType &type) const {
  PIPEC_ASSIGN_OR_RETURN(size_t size, checkedByteSize(type));
  std::lock_guard<std::mutex> lock(mutex);
  auto it = pieces.find(offset);
  if (it == pieces.end() || size > it->second.byteSize())
    return dataLoss("the constant pool has no " + type.str() + " at offset " +
                    std::to_string(offset));
  // The copy of the piece, kept by the new tensor, keeps the bytes alive.
  auto owner = std::make_shared<Tensor>(it->second);
  return Tensor::wrap(type, owner->data(), owner);
}

} // namespace pipec::pipe
