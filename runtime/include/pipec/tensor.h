// Element types, tensor types and tensors as the runtime's users see them.
//
// A Tensor is dense, row-major ("C" order) and little-endian. Thread rule:
// TensorType is a value; a Tensor may be read by many threads, written by one.
#ifndef PIPEC_TENSOR_H
#define PIPEC_TENSOR_H

#include "pipec/status.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pipec {

/// Element types. The numbers are written into packages: never renumber.
enum class DType : uint8_t {
  Bool = 1, // one byte, 0 or 1
  I8 = 2,
  I16 = 3,
  I32 = 4,
  I64 = 5,
  U8 = 6,
  U16 = 7,
  U32 = 8,
  U64 = 9,
  F16 = 10,
  BF16 = 11,
  F32 = 12,
  F64 = 13,
};

/// Bytes of one element.
size_t byteSize(DType dtype);
/// The name in messages and in the printed IR without signedness tricks: "f32",
/// "i64", "u8", "bool".
std::string_view dtypeName(DType dtype);
/// The safetensors name ("F32", "I64", "BOOL").
std::string_view safetensorsName(DType dtype);
/// The type with that safetensors name, if pipec knows it.
StatusOr<DType> dtypeFromSafetensors(std::string_view name);
bool isFloat(DType dtype);
bool isSignedInt(DType dtype);
bool isUnsignedInt(DType dtype);

/// Dtype and static shape. A scalar has no dimensions.
struct TensorType {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  /// Product of the dimensions (1 for a scalar). Shapes come checked: see
  /// checkedByteSize.
  int64_t numElements() const;
  size_t byteSize() const;
  /// "f32[2x3]"; "i64[]" is a scalar.
  std::string str() const;
  bool operator==(const TensorType &o) const {
    return dtype == o.dtype && shape == o.shape;
  }
  bool operator!=(const TensorType &o) const { return !(*this == o); }
};

/// The bytes a tensor of this type needs, or an error for negative dimensions
/// or an overflow of 2^62.
StatusOr<size_t> checkedByteSize(const TensorType &type);

/// A borrowed, writable or read-only, dense tensor. Does not own its bytes.
struct TensorView {
  TensorType type;
  void *data = nullptr;

  template <typename T> T *as() const { return static_cast<T *>(data); }
};

/// A tensor that keeps its bytes alive (shared ownership: copies are cheap and
/// alias). Memory is 64-byte aligned when made by allocate().
class Tensor {
public:
  Tensor() = default;
  /// Uninitialised bytes for `type`; an error when the size overflows or memory
  /// runs out.
  static StatusOr<Tensor> allocate(TensorType type);
  /// Wraps bytes that `owner` keeps alive (a mapped file, say). `data` must
  /// hold type.byteSize() bytes.
  static Tensor wrap(TensorType type, void *data,
                     std::shared_ptr<const void> owner);
  /// Copies `bytes` (type.byteSize() of them).
  static StatusOr<Tensor> copyOf(TensorType type, const void *bytes);

  const TensorType &type() const { return view_.type; }
  const std::vector<int64_t> &shape() const { return view_.type.shape; }
  DType dtype() const { return view_.type.dtype; }
  int64_t numElements() const { return view_.type.numElements(); }
  size_t byteSize() const { return view_.type.byteSize(); }
  bool empty() const { return view_.data == nullptr; }
  void *data() { return view_.data; }
  const void *data() const { return view_.data; }
  template <typename T> T *as() { return static_cast<T *>(view_.data); }
  template <typename T> const T *as() const {
    return static_cast<const T *>(view_.data);
  }
  TensorView view() const { return view_; }

private:
  TensorView view_;
  std::shared_ptr<const void> owner;
};

/// Tensors by name, in name order.
using TensorMap = std::map<std::string, Tensor>;

/// float16 and bfloat16 conversions, round to nearest even.
float halfToFloat(uint16_t bits);
uint16_t floatToHalf(float value);
float bfloat16ToFloat(uint16_t bits);
uint16_t floatToBfloat16(float value);

} // namespace pipec

#endif // PIPEC_TENSOR_H
