// Logical and bitwise ops and shifts. In: two bool or integer tensors of one
// element type. Out: their broadcast shape.
// Tests: test/unit/kernels/BinaryTest.cpp.
#include "runtime/kernels/reference/elementwise.h"
#include "runtime/kernels/reference/families.h"

namespace pipec::reference {
namespace {

#define PIPEC_BITS(Name, op)                                                   \
  struct Name {                                                                \
    template <typename C> static C apply(C a, C b) {                           \
      return static_cast<C>(a op b);                                           \
    }                                                                          \
  };
PIPEC_BITS(And, &)
PIPEC_BITS(Or, |)
PIPEC_BITS(Xor, ^)
#undef PIPEC_BITS

// An amount that is negative is, unsigned, more than any width.
template <typename C> constexpr bool shiftsAllOut(C amount) {
  return static_cast<std::make_unsigned_t<C>>(amount) >= 8 * sizeof(C);
}

struct ShiftLeft {
  template <typename C> static C apply(C a, C b) {
    return shiftsAllOut(b) ? C(0)
                           : static_cast<C>(static_cast<Wrapping<C>>(a) << b);
  }
};
struct ShiftRight {
  template <typename C> static C apply(C a, C b) {
    return shiftsAllOut(b) ? static_cast<C>(a < C(0) ? -1 : 0)
                           : static_cast<C>(a >> b);
  }
};

} // namespace

void registerBits(KernelRegistry &registry) {
  registry.add("and", KernelSet::Reference, binaryFactory<kBool, And>);
  registry.add("or", KernelSet::Reference, binaryFactory<kBool, Or>);
  registry.add("xor", KernelSet::Reference, binaryFactory<kBool, Xor>);
  registry.add("bitwise_and", KernelSet::Reference, wrappingIntFactory<And>);
  registry.add("bitwise_or", KernelSet::Reference, wrappingIntFactory<Or>);
  registry.add("bitwise_xor", KernelSet::Reference, wrappingIntFactory<Xor>);
  registry.add("shift_left", KernelSet::Reference,
               wrappingIntFactory<ShiftLeft>);
  registry.add("shift_right", KernelSet::Reference,
               binaryFactory<kInt, ShiftRight>);
}

} // namespace pipec::reference
