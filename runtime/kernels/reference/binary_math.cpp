// maximum, minimum, pow, atan2, remainder. In: two tensors of one element type.
// Out: their broadcast shape. NaN wins in maximum and minimum.
// Tests: test/unit/kernels/BinaryTest.cpp.
#include "runtime/kernels/reference/elementwise.h"
#include "runtime/kernels/reference/families.h"

#include <cmath>

namespace pipec::reference {
namespace {

struct Maximum {
  template <typename C> static C apply(C a, C b) {
    return a > b || a != a ? a : b;
  }
};
struct Minimum {
  template <typename C> static C apply(C a, C b) {
    return a < b || a != a ? a : b;
  }
};
struct Atan2 {
  template <typename C> static C apply(C a, C b) { return std::atan2(a, b); }
};

struct Pow {
  template <typename C> static C apply(C base, C exponent) {
    if constexpr (std::is_floating_point_v<C>) {
      return std::pow(base, exponent);
    } else {
      if constexpr (std::is_signed_v<C>)
        if (exponent < C(0))
          return base == C(1) || (base == C(-1) && exponent % 2 == 0)
                     ? C(1)
                     : static_cast<C>(base == C(-1) ? -1 : 0);
      // Only the low bits count, so a negative base may be zero-extended.
      using Unsigned = std::make_unsigned_t<C>;
      Wrapping<C> result = 1, square = static_cast<Unsigned>(base);
      for (auto rest = static_cast<Unsigned>(exponent); rest; rest >>= 1) {
        if (rest & 1)
          result *= square;
        square *= square;
      }
      return static_cast<C>(result);
    }
  }
};

struct RemainderTrunc {
  template <typename C> static C apply(C a, C b) {
    if constexpr (std::is_floating_point_v<C>) {
      return std::fmod(a, b);
    } else {
      if (b == C(0))
        return C(0);
      if constexpr (std::is_signed_v<C>)
        if (b == C(-1)) // C leaves the least integer % -1 undefined
          return C(0);
      return static_cast<C>(a % b);
    }
  }
};

struct RemainderFloor {
  template <typename C> static C apply(C a, C b) {
    const C r = RemainderTrunc::apply(a, b);
    if constexpr (std::is_floating_point_v<C>) {
      if (r == C(0))
        return std::copysign(C(0), b);
      return (r < C(0)) != (b < C(0)) ? r + b : r;
    } else if constexpr (std::is_signed_v<C>) {
      return r != C(0) && (r < C(0)) != (b < C(0)) ? static_cast<C>(r + b) : r;
    } else {
      return r;
    }
  }
};

KernelOr makeRemainder(const OpDesc &op) {
  PIPEC_ASSIGN_OR_RETURN(const size_t kind,
                         keywordAttr(op, "kind", {"trunc", "floor"}));
  return kind == 0 ? binaryFactory<kNum, RemainderTrunc>(op)
                   : binaryFactory<kNum, RemainderFloor>(op);
}

} // namespace

void registerBinaryMath(KernelRegistry &registry) {
  registry.add("maximum", KernelSet::Reference, binaryFactory<kNum, Maximum>);
  registry.add("minimum", KernelSet::Reference, binaryFactory<kNum, Minimum>);
  registry.add("pow", KernelSet::Reference, binaryFactory<kNum, Pow>);
  registry.add("atan2", KernelSet::Reference, binaryFactory<kFloat, Atan2>);
  registry.add("remainder", KernelSet::Reference, makeRemainder);
}

} // namespace pipec::reference
