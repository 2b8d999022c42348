// compare: six comparisons of any element type. In: two tensors of one element
// type. Out: bool, their broadcast shape; with a NaN only `ne` holds.
// Tests: test/unit/kernels/BinaryTest.cpp.
#include "runtime/kernels/reference/elementwise.h"
#include "runtime/kernels/reference/families.h"

namespace pipec::reference {
namespace {

#define PIPEC_COMPARE(Name, op)                                                \
  struct Name {                                                                \
    template <typename C> static bool apply(C a, C b) { return a op b; }       \
  };
PIPEC_COMPARE(Eq, ==)
PIPEC_COMPARE(Ne, !=)
PIPEC_COMPARE(Lt, <)
PIPEC_COMPARE(Le, <=)
#undef PIPEC_COMPARE

// gt and ge are lt and le with the operands exchanged.
template <typename F> struct Swapped {
  template <typename C> static bool apply(C a, C b) { return F::apply(b, a); }
};

template <typename F> KernelOr compareFactory(const OpDesc &op) {
  return dispatch<kAny>(op.inputs[0].dtype, [&](auto tag) {
    return makeBinary(op, DType::Bool,
                      binaryRow<F, typename decltype(tag)::type, Bool>);
  });
}

KernelOr makeCompare(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 2));
  PIPEC_ASSIGN_OR_RETURN(
      const size_t kind,
      keywordAttr(op, "kind", {"eq", "ne", "lt", "le", "gt", "ge"}));
  constexpr KernelOr (*factories[])(const OpDesc &) = {
      compareFactory<Eq>,          compareFactory<Ne>,
      compareFactory<Lt>,          compareFactory<Le>,
      compareFactory<Swapped<Lt>>, compareFactory<Swapped<Le>>};
  return factories[kind](op);
}

} // namespace

void registerCompare(KernelRegistry &registry) {
  registry.add("compare", KernelSet::Reference, makeCompare);
}

} // namespace pipec::reference
