// Reading index tensors: i32 or i64, negative counting from the end, out of
// range an error at run time. Private to the gather and scatter kernels.
#ifndef PIPEC_RUNTIME_KERNELS_REFERENCE_INDEXING_H
#define PIPEC_RUNTIME_KERNELS_REFERENCE_INDEXING_H

#include "runtime/kernels/reference/strided.h"

namespace pipec::reference {

inline Status checkIndexType(const OpDesc &op, size_t input) {
  const DType dtype = op.inputs[input].dtype;
  if (dtype == DType::I32 || dtype == DType::I64)
    return Status();
  return invalidArgument("indices are " + op.inputs[input].str() +
                         ", expected i32 or i64");
}

class Indices {
public:
  explicit Indices(const TensorView &view)
      : data(view.data), wide(view.type.dtype == DType::I64) {}
  int64_t operator[](int64_t i) const {
    return wide ? static_cast<const int64_t *>(data)[i]
                : static_cast<const int32_t *>(data)[i];
  }

private:
  const void *data;
  bool wide;
};

/// `index` counted from the start of a dimension of `size`; -1 where it is out
/// of range.
inline int64_t resolveIndex(int64_t index, int64_t size) {
  const int64_t at = index < 0 ? index + size : index;
  return at >= 0 && at < size ? at : -1;
}

inline Status indexError(const std::string &op, int64_t index, int64_t position,
                         int64_t size) {
  return invalidArgument(op + ": index " + std::to_string(index) +
                         " at position " + std::to_string(position) +
                         " of the indices is out of range for a dimension of " +
                         std::to_string(size));
}

/// Positions in an operand that rows of a [.., k] index tensor name (gather_nd,
/// scatter_nd).
struct PositionReader {
  Shape sizes, strides; // of the operand dimensions that are indexed
  std::string op;

  /// The element offset that row `row` names, or an error.
  StatusOr<int64_t> offset(const Indices &indices, int64_t row) const {
    const auto k = static_cast<int64_t>(sizes.size());
    int64_t at = 0;
    for (int64_t j = 0; j < k; ++j) {
      const int64_t index = resolveIndex(indices[row * k + j], sizes[j]);
      if (index < 0)
        return indexError(op, indices[row * k + j], row * k + j, sizes[j]);
      at += index * strides[j];
    }
    return at;
  }
};

/// The loops of gather_elements and scatter_elements: array 0 the indices,
/// array 1 the operand, standing still along `dim`. An error where the indices'
/// sizes exceed the operand's elsewhere.
StatusOr<LoopNest<2>> elementPositions(const TensorType &operand,
                                       const TensorType &indices, int64_t dim);

} // namespace pipec::reference

#endif
