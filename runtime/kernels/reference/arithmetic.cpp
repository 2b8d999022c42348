// add, sub, mul, div, chain, and the frame of broadcasting binary ops. In: two
// tensors of one element type. Out: their broadcast shape. Integers wrap;
// division by 0 gives 0. Tests: test/unit/kernels/BinaryTest.cpp.
#include "runtime/kernels/reference/elementwise.h"
#include "runtime/kernels/reference/families.h"

namespace pipec::reference {

KernelOr makeBinary(const OpDesc &op, DType resultType, BinaryRow row) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 2));
  PIPEC_RETURN_IF_ERROR(checkSameDType(op, 0, 1));
  PIPEC_ASSIGN_OR_RETURN(
      const Shape shape,
      broadcastShapes(op.inputs[0].shape, op.inputs[1].shape));
  PIPEC_RETURN_IF_ERROR(checkResult(op, {resultType, shape}));
  LoopNest<3> nest;
  nest.sizes = shape;
  nest.strides[0] = rowMajorStrides(shape);
  for (size_t i = 0; i < 2; ++i) {
    PIPEC_ASSIGN_OR_RETURN(nest.strides[1 + i],
                           broadcastStrides(op.inputs[i].shape, shape));
  }
  nest.simplify();
  const auto inWidth = static_cast<int64_t>(byteSize(op.inputs[0].dtype));
  const auto outWidth = static_cast<int64_t>(byteSize(resultType));
  return makeKernel([=](const Run &run) mutable {
    char *out = run.out<char>();
    const char *a = run.in<char>(0), *b = run.in<char>(1);
    const int64_t n = nest.inner();
    const bool aFixed = nest.innerStride(1) == 0,
               bFixed = nest.innerStride(2) == 0;
    nest.forEach([&](const std::array<int64_t, 3> &at) {
      row(out + at[0] * outWidth, a + at[1] * inWidth, b + at[2] * inWidth, n,
          aFixed, bFixed);
    });
  });
}

namespace {

#define PIPEC_WRAPPING(Name, op)                                               \
  struct Name {                                                                \
    template <typename C> static C apply(C a, C b) {                           \
      if constexpr (std::is_floating_point_v<C>)                               \
        return a op b;                                                         \
      else                                                                     \
        return static_cast<C>(static_cast<Wrapping<C>>(a)                      \
                                  op static_cast<Wrapping<C>>(b));             \
    }                                                                          \
  };
PIPEC_WRAPPING(Add, +)
PIPEC_WRAPPING(Sub, -)
PIPEC_WRAPPING(Mul, *)
#undef PIPEC_WRAPPING

struct Div {
  template <typename C> static C apply(C a, C b) {
    if constexpr (std::is_floating_point_v<C>) {
      return a / b;
    } else {
      if (b == C(0))
        return C(0);
      if constexpr (std::is_signed_v<C>)
        if (b == C(-1)) // the least integer wraps
          return static_cast<C>(Wrapping<C>(0) - static_cast<Wrapping<C>>(a));
      return static_cast<C>(a / b);
    }
  }
};

// mul and div of a gradient: 0 where that is 0, so that an infinity or NaN
// beside it does not count.
struct ChainMul {
  template <typename C> static C apply(C g, C slope) {
    return g == C(0) ? C(0) : g * slope;
  }
};
struct ChainDiv {
  template <typename C> static C apply(C g, C slope) {
    return g == C(0) ? C(0) : g / slope;
  }
};
KernelOr makeChain(const OpDesc &op) {
  PIPEC_ASSIGN_OR_RETURN(const size_t kind,
                         keywordAttr(op, "kind", {"mul", "div"}));
  return kind == 0 ? binaryFactory<kFloat, ChainMul>(op)
                   : binaryFactory<kFloat, ChainDiv>(op);
}

template <typename F> KernelOr wrapping(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 2));
  return isFloat(op.inputs[0].dtype) ? binaryFactory<kFloat, F>(op)
                                     : wrappingIntFactory<F>(op);
}

} // namespace

void registerArithmetic(KernelRegistry &registry) {
  registry.add("add", KernelSet::Reference, wrapping<Add>);
  registry.add("sub", KernelSet::Reference, wrapping<Sub>);
  registry.add("mul", KernelSet::Reference, wrapping<Mul>);
  registry.add("chain", KernelSet::Reference, makeChain);
  registry.add("div", KernelSet::Reference, binaryFactory<kNum, Div>);
}

} // namespace pipec::reference
