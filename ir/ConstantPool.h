// Bytes of constants made at compile time, kept out of the IR (PIPE-I5).
//
// A `pipe.weight` whose source file is "@pool" refers to [offset, offset +
// length) of the pool. Small tensors stay in memory; the pool is append-only
// and equal contents share one place. One pool belongs to one MLIRContext.
// Thread rule: all calls are safe from several threads.
#ifndef PIPEC_IR_CONSTANTPOOL_H
#define PIPEC_IR_CONSTANTPOOL_H

#include "pipec/tensor.h"

#include "mlir/IR/MLIRContext.h"

#include <mutex>

namespace pipec::pipe {

class ConstantPool {
public:
  static constexpr const char *kFileName = "@pool";

  /// The pool of `context` (made with the dialect).
  static ConstantPool &get(mlir::MLIRContext *context);

  /// Adds the bytes of `tensor` and returns their offset.
  uint64_t add(const Tensor &tensor);
  /// Bytes [offset, offset + length); null where out of range or not one added
  /// piece's prefix.
  const void *find(uint64_t offset, uint64_t length) const;
  /// The tensor at `offset`, sharing the pool's bytes.
  StatusOr<Tensor> tensor(uint64_t offset, const TensorType &type) const;

private:
  mutable std::mutex mutex;
  std::map<uint64_t, Tensor> pieces;        // by offset
  std::multimap<uint64_t, uint64_t> hashes; // content hash -> offset
  uint64_t end = 0;
};

} // namespace pipec::pipe

#endif
