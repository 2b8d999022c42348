// select: takes each element from one of two tensors. In: a bool condition, two
// tensors of one element type. Out: the broadcast shape of all three.
// Tests: test/unit/kernels/BinaryTest.cpp.
#include "runtime/kernels/reference/families.h"
#include "runtime/kernels/reference/strided.h"

namespace pipec::reference {
namespace {

template <typename U>
void selectRow(U *__restrict out, const Bool *c, int64_t cs, const U *a,
               int64_t as, const U *b, int64_t bs, int64_t n) {
  if (cs == 0) {
    const bool first = c->byte != 0;
    const U *from = first ? a : b;
    const int64_t stride = first ? as : bs;
    for (int64_t i = 0; i < n; ++i)
      out[i] = from[i * stride];
  } else if (as == 1 && bs == 1) {
    for (int64_t i = 0; i < n; ++i)
      out[i] = c[i].byte ? a[i] : b[i];
  } else if (bs == 0) {
    const U fixed = *b;
    for (int64_t i = 0; i < n; ++i)
      out[i] = c[i].byte ? a[i * as] : fixed;
  } else {
    const U fixed = *a;
    for (int64_t i = 0; i < n; ++i)
      out[i] = c[i].byte ? fixed : b[i];
  }
}

KernelOr makeSelect(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 3));
  if (op.inputs[0].dtype != DType::Bool)
    return invalidArgument("condition is " + op.inputs[0].str() +
                           ", expected bool");
  PIPEC_RETURN_IF_ERROR(checkSameDType(op, 1, 2));
  PIPEC_ASSIGN_OR_RETURN(
      Shape shape, broadcastShapes(op.inputs[0].shape, op.inputs[1].shape));
  PIPEC_ASSIGN_OR_RETURN(shape, broadcastShapes(shape, op.inputs[2].shape));
  PIPEC_RETURN_IF_ERROR(checkResult(op, {op.inputs[1].dtype, shape}));
  LoopNest<4> nest;
  nest.sizes = shape;
  nest.strides[0] = rowMajorStrides(shape);
  for (size_t i = 0; i < 3; ++i) {
    PIPEC_ASSIGN_OR_RETURN(nest.strides[1 + i],
                           broadcastStrides(op.inputs[i].shape, shape));
  }
  nest.simplify();
  return dispatchWidth(op.inputs[1].dtype, [&](auto tag) {
    using U = typename decltype(tag)::type;
    return makeKernel([nest](const Run &run) mutable {
      U *out = run.out<U>();
      const Bool *c = run.in<Bool>(0);
      const U *a = run.in<U>(1), *b = run.in<U>(2);
      nest.forEach([&](const std::array<int64_t, 4> &at) {
        selectRow(out + at[0], c + at[1], nest.innerStride(1), a + at[2],
                  nest.innerStride(2), b + at[3], nest.innerStride(3),
                  nest.inner());
      });
    });
  });
}

} // namespace

void registerSelect(KernelRegistry &registry) {
  registry.add("select", KernelSet::Reference, makeSelect);
}

} // namespace pipec::reference
