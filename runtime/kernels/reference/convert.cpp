// convert: from any element type to any other. In: a tensor. Out: the same
// shape. Rounds once, also from f64 and 64-bit integers to f16 and bf16.
// Float to integer: toward zero, out of range by saturation to i64 and
// truncation. Tests: test/unit/kernels/ConvertTest.cpp.
#include "runtime/kernels/reference/elementwise.h"
#include "runtime/kernels/reference/families.h"

#include <limits>

namespace pipec::reference {
namespace {

int64_t saturateToI64(double x) {
  if (x != x)
    return 0;
  if (x >= 0x1p63)
    return std::numeric_limits<int64_t>::max();
  if (x < -0x1p63)
    return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(x);
}

// An f64 that rounds to a shorter float as the integer itself would: bits
// beyond 53 are kept as one sticky bit.
template <typename T> double stickyDouble(T x) {
  if constexpr (sizeof(T) < 8) {
    return x;
  } else {
    const bool negative = x < T(0);
    uint64_t size = negative ? uint64_t(0) - static_cast<uint64_t>(x)
                             : static_cast<uint64_t>(x);
    if (size >= uint64_t(1) << 53)
      size = (size & ~uint64_t(0x7ff)) | (size & 0x7ff ? 0x800 : 0);
    const double value = static_cast<double>(size);
    return negative ? -value : value;
  }
}

template <typename R, typename C> R convertTo(C x) {
  if constexpr (std::is_same_v<R, Bool>) {
    return store<Bool>(x != C(0));
  } else if constexpr (std::is_same_v<R, Half> || std::is_same_v<R, BFloat16>) {
    if constexpr (std::is_same_v<C, float> || std::is_same_v<C, bool>)
      return store<R>(static_cast<float>(x));
    else if constexpr (std::is_same_v<C, double>)
      return store<R>(roundToOdd(x));
    else
      return store<R>(roundToOdd(stickyDouble(x)));
  } else if constexpr (std::is_floating_point_v<C> && std::is_integral_v<R>) {
    if constexpr (std::is_same_v<R, uint64_t>)
      if (x >= C(0x1p63) && x < C(0x1p64))
        return static_cast<uint64_t>(x);
    return static_cast<R>(saturateToI64(x));
  } else {
    return static_cast<R>(x);
  }
}

template <typename T, typename R>
void convertRow(void *out, const void *in, int64_t n) {
  R *__restrict r = static_cast<R *>(out);
  const T *x = static_cast<const T *>(in);
  for (int64_t i = 0; i < n; ++i)
    r[i] = convertTo<R>(load(x[i]));
}

KernelOr makeConvert(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 1));
  const DType to = op.outputs[0].dtype;
  return dispatch<kAny>(op.inputs[0].dtype, [&](auto from) {
    using T = typename decltype(from)::type;
    return dispatch<kAny>(to, [&](auto tag) {
      return makeUnary(op, to, convertRow<T, typename decltype(tag)::type>);
    });
  });
}

} // namespace

void registerConvert(KernelRegistry &registry) {
  registry.add("convert", KernelSet::Reference, makeConvert);
}

} // namespace pipec::reference
