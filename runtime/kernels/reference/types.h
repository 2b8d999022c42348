// Element types as C++ types: what arithmetic on each happens in, and dispatch
// from a DType to code for that type. Private to the kernels.
#ifndef PIPEC_RUNTIME_KERNELS_REFERENCE_TYPES_H
#define PIPEC_RUNTIME_KERNELS_REFERENCE_TYPES_H

#include "runtime/base/half.h"
#include "runtime/kernels/kernel.h"

#include <type_traits>

namespace pipec::reference {

/// A bool element: any byte but 0 is true, 1 is written.
struct Bool {
  uint8_t byte;
};

template <typename T> struct ComputeOf { using type = T; };
template <> struct ComputeOf<Half> { using type = float; };
template <> struct ComputeOf<BFloat16> { using type = float; };
template <> struct ComputeOf<Bool> { using type = bool; };
/// What one op computes in, before its result is rounded to T.
template <typename T> using Compute = typename ComputeOf<T>::type;

/// What sums and products of many T run in: f32 for f16 and bf16, f64 for f32,
/// 64-bit integers (which wrap) for integers.
template <typename T>
using Accumulator = std::conditional_t<
    std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float,
    std::conditional_t<
        std::is_floating_point_v<T>, double,
        std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>>;

template <typename T>
constexpr bool kIsFloat = std::is_floating_point_v<Compute<T>>;

/// An unsigned type at least as wide as `int`, in which integer arithmetic
/// wraps without undefined behaviour.
template <typename T>
using Wrapping = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <typename T> inline Compute<T> load(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return toFloat(value);
  else if constexpr (std::is_same_v<T, Bool>)
    return value.byte != 0;
  else
    return value;
}

/// Rounds `value` (a Compute<T> or an Accumulator<T>) to T once.
template <typename T, typename V> inline T store(V value) {
  if constexpr (std::is_same_v<T, Half>)
    return toHalf(value);
  else if constexpr (std::is_same_v<T, BFloat16>)
    return toBFloat16(value);
  else if constexpr (std::is_same_v<T, Bool>)
    return Bool{static_cast<uint8_t>(value ? 1 : 0)};
  else
    return static_cast<T>(value);
}

/// The element as an Accumulator<T>; integers keep their value.
template <typename T> inline Accumulator<T> widen(T element) {
  return static_cast<Accumulator<T>>(load(element));
}

template <typename T> struct Tag { using type = T; };

/// Classes of element types, as the dialect's type constraints group them.
enum TypeClass : unsigned {
  kBool = 1,
  kSigned = 2,
  kUnsigned = 4,
  kFloat = 8,
  kInt = kSigned | kUnsigned,
  kNum = kInt | kFloat,
  kAny = kNum | kBool,
};

using KernelOr = StatusOr<std::unique_ptr<Kernel>>;

/// make(Tag<T>) for the T that is `dtype`, where `Classes` holds it; else an
/// error.
template <unsigned Classes, typename F>
KernelOr dispatch(DType dtype, F &&make) {
#define PIPEC_CASE(classes, dtypeCase, T)                                      \
  if constexpr ((Classes & (classes)) != 0)                                    \
    if (dtype == DType::dtypeCase)                                             \
      return make(Tag<T>{});
  PIPEC_CASE(kBool, Bool, Bool)
  PIPEC_CASE(kSigned, I8, int8_t)
  PIPEC_CASE(kSigned, I16, int16_t)
  PIPEC_CASE(kSigned, I32, int32_t)
  PIPEC_CASE(kSigned, I64, int64_t)
  PIPEC_CASE(kUnsigned, U8, uint8_t)
  PIPEC_CASE(kUnsigned, U16, uint16_t)
  PIPEC_CASE(kUnsigned, U32, uint32_t)
  PIPEC_CASE(kUnsigned, U64, uint64_t)
  PIPEC_CASE(kFloat, F16, Half)
  PIPEC_CASE(kFloat, BF16, BFloat16)
  PIPEC_CASE(kFloat, F32, float)
  PIPEC_CASE(kFloat, F64, double)
#undef PIPEC_CASE
  return invalidArgument("the op does not take element type " +
                         std::string(dtypeName(dtype)));
}

/// make(Tag<U>) for the unsigned U with the width of `dtype`: for code that
/// only moves elements.
template <typename F> KernelOr dispatchWidth(DType dtype, F &&make) {
  switch (byteSize(dtype)) {
  case 1:
    return make(Tag<uint8_t>{});
  case 2:
    return make(Tag<uint16_t>{});
  case 4:
    return make(Tag<uint32_t>{});
  default:
    return make(Tag<uint64_t>{});
  }
}

} // namespace pipec::reference

#endif
