// max_pool_grad and avg_pool_grad: each window's gradient goes back to its
// elements. Windows in row-major order, so the order of additions follows from
// the shapes. In: N C * (and the pool's operand). Out: the operand's shape.
// Tests: test/unit/kernels/PoolGradTest.cpp.
#include "runtime/kernels/reference/families.h"
#include "runtime/kernels/reference/window.h"

#include <algorithm>

namespace pipec::reference {
namespace {

// Calls visit(position in the plane) for every element inside of the window of
// result (i, j, k), row-major.
template <typename Visit>
void forWindow(const Window &w, const Size3 &result, Visit visit) {
  Size3 start;
  Span spans[3];
  for (size_t d = 0; d < 3; ++d) {
    start[d] = result[d] * w.strides[d] - w.low[d];
    spans[d] = spanInside(w.kernel[d], w.dilations[d], start[d], w.in[d]);
  }
  for (int64_t a = spans[0].first; a < spans[0].last; ++a)
    for (int64_t b = spans[1].first; b < spans[1].last; ++b)
      for (int64_t c = spans[2].first; c < spans[2].last; ++c) {
        const int64_t z = start[0] + a * w.dilations[0],
                      y = start[1] + b * w.dilations[1],
                      x = start[2] + c * w.dilations[2];
        visit((z * w.in[1] + y) * w.in[2] + x);
      }
}

// Calls apply(plane of sums, index of the result, its position) for each
// result; stores each plane of sums.
template <typename T, typename Apply>
KernelOr makeGrad(const Window &w, Apply apply) {
  using C = Compute<T>;
  ScratchPlan scratch;
  scratch.add<C>(w.inSize());
  return makeKernel(
      [=](const Run &run) {
        C *sums = run.scratch<C>(0);
        T *out = run.out<T>();
        int64_t index = 0;
        for (int64_t plane = 0; plane < w.batch * w.channels; ++plane) {
          std::fill_n(sums, w.inSize(), C(0));
          Size3 at;
          for (at[0] = 0; at[0] < w.out[0]; ++at[0])
            for (at[1] = 0; at[1] < w.out[1]; ++at[1])
              for (at[2] = 0; at[2] < w.out[2]; ++at[2])
                apply(run, plane, sums, index++, at);
          for (int64_t i = 0; i < w.inSize(); ++i)
            *out++ = store<T>(sums[i]);
        }
      },
      scratch);
}

KernelOr makeMaxPoolGrad(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 2));
  PIPEC_RETURN_IF_ERROR(checkSameDType(op, 0, 1));
  PIPEC_ASSIGN_OR_RETURN(const Window w,
                         readPoolingGrad(op, op.inputs[0], op.inputs[1]));
  return dispatch<kFloat>(op.inputs[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    return makeGrad<T>(w, [w](const Run &run, int64_t plane, C *sums,
                              int64_t index, const Size3 &at) {
      const T *in = run.in<T>(0) + plane * w.inSize();
      int64_t best = -1;
      C largest = 0;
      forWindow(w, at, [&](int64_t position) {
        const C value = load(in[position]);
        if (best < 0 || (largest == largest && !(value <= largest))) {
          best = position;
          largest = value;
        }
      });
      if (best >= 0)
        sums[best] += static_cast<C>(load(run.in<T>(1)[index]));
    });
  });
}

// Elements that the window of result o covers along dimension d, with the
// padding where that counts.
int64_t covered(const Window &w, size_t d, int64_t o, bool padded) {
  const int64_t start = o * w.strides[d] - w.low[d];
  const int64_t from = padded ? -w.low[d] : 0;
  const int64_t to = w.in[d] + (padded ? w.high[d] : 0);
  const Span span =
      spanInside(w.kernel[d], w.dilations[d], start - from, to - from);
  return span.last - span.first;
}

KernelOr makeAvgPoolGrad(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 1));
  PIPEC_ASSIGN_OR_RETURN(const Shape shape, op.get<Shape>("shape"));
  for (int64_t size : shape)
    if (size < 0)
      return invalidArgument("shape has a negative entry");
  const TensorType input{op.inputs[0].dtype, shape};
  PIPEC_ASSIGN_OR_RETURN(const Window w,
                         readPoolingGrad(op, input, op.inputs[0]));
  PIPEC_ASSIGN_OR_RETURN(const bool padded,
                         attrOr(op, "count_include_pad", false));
  return dispatch<kFloat>(op.inputs[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    return makeGrad<T>(w, [w, padded](const Run &run, int64_t, C *sums,
                                      int64_t index, const Size3 &at) {
      const int64_t count = covered(w, 0, at[0], padded) *
                            covered(w, 1, at[1], padded) *
                            covered(w, 2, at[2], padded);
      if (count == 0)
        return;
      const C share =
          static_cast<C>(load(run.in<T>(0)[index])) / static_cast<C>(count);
      forWindow(w, at, [&](int64_t position) { sums[position] += share; });
    });
  });
}

} // namespace

void registerPoolGrad(KernelRegistry &registry) {
  registry.add("max_pool_grad", KernelSet::Reference, makeMaxPoolGrad);
  registry.add("avg_pool_grad", KernelSet::Reference, makeAvgPoolGrad);
}

} // namespace pipec::reference
