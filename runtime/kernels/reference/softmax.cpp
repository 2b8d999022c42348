// softmax and log_softmax along one dimension. In: a float tensor. Out: the
// same shape, computed in f32 (f64 for f64) row by row in the lane order of
// sums.h. Tests: test/unit/kernels/NormTest.cpp.
#include "runtime/kernels/reference/families.h"
#include "runtime/kernels/reference/softmax_row.h"
#include "runtime/kernels/reference/support.h"

namespace pipec::reference {
namespace {

template <typename T, bool Log>
KernelOr makeTyped(int64_t outer, int64_t n, int64_t inner) {
  using C = Compute<T>;
  ScratchPlan scratch;
  scratch.add<C>(n);
  return makeKernel(
      [=](const Run &run) {
        const T *in = run.in<T>(0);
        T *out = run.out<T>();
        C *row = run.scratch<C>(0);
        for (int64_t line = 0; line < outer * inner; ++line) {
          const int64_t first = (line / inner) * n * inner + line % inner;
          for (int64_t i = 0; i < n; ++i)
            row[i] = load(in[first + i * inner]);
          const C max = maxOfRow(row, n);
          if (Log)
            logSoftmaxRow(row, n, max);
          else
            softmaxRow(row, n, max);
          for (int64_t i = 0; i < n; ++i)
            out[first + i * inner] = store<T>(row[i]);
        }
      },
      scratch);
}

template <bool Log> KernelOr makeSoftmax(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 1));
  const TensorType &type = op.inputs[0];
  PIPEC_ASSIGN_OR_RETURN(const int64_t dim, dimAttr(op, "dim", type.rank()));
  PIPEC_RETURN_IF_ERROR(checkResult(op, type));
  const int64_t outer = numElements(type.shape, 0, dim),
                inner = numElements(type.shape, dim + 1, type.shape.size());
  return dispatch<kFloat>(type.dtype, [&](auto tag) {
    return makeTyped<typename decltype(tag)::type, Log>(outer, type.shape[dim],
                                                        inner);
  });
}

} // namespace

void registerSoftmax(KernelRegistry &registry) {
  registry.add("softmax", KernelSet::Reference, makeSoftmax<false>);
  registry.add("log_softmax", KernelSet::Reference, makeSoftmax<true>);
}

} // namespace pipec::reference
