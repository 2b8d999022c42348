// max_pool and avg_pool. In: N C *. Out: N C *, one element a window. A window
// wholly in the padding gives the least value (max_pool) or 0 (avg_pool).
// Averages add in f32 (f64 for f64) in row-major order and divide once.
// Tests: test/unit/kernels/PoolingTest.cpp.
#include "runtime/kernels/reference/families.h"
#include "runtime/kernels/reference/window.h"

#include <algorithm>
#include <limits>

namespace pipec::reference {
namespace {

// Kernel positions p in [first, last) of dimension d whose start * stride + p *
// dilation - low lies in [from, to).
Span taps(const Window &w, size_t d, int64_t o, int64_t from, int64_t to) {
  const int64_t start = o * w.strides[d] - w.low[d];
  return spanInside(w.kernel[d], w.dilations[d], start - from, to - from);
}

template <typename C> struct Larger {
  static C identity() {
    using Limits = std::numeric_limits<C>;
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  }
  static C apply(C a, C b) { return a > b || a != a ? a : b; }
};
template <typename C> struct Sum {
  static C identity() { return 0; }
  static C apply(C a, C b) { return a + b; }
};

// Combines the windows of one row of results into states[0 .. out[2]): kernel
// positions in row-major order, each along the whole row.
template <typename F, typename T, typename C>
void poolRow(const Window &w, const T *in, int64_t i, int64_t j, C *states) {
  std::fill_n(states, w.out[2], F::identity());
  const Span rows = taps(w, 0, i, 0, w.in[0]),
             columns = taps(w, 1, j, 0, w.in[1]);
  for (int64_t a = rows.first; a < rows.last; ++a)
    for (int64_t b = columns.first; b < columns.last; ++b) {
      const int64_t y = i * w.strides[0] - w.low[0] + a * w.dilations[0];
      const int64_t x = j * w.strides[1] - w.low[1] + b * w.dilations[1];
      for (int64_t c = 0; c < w.kernel[2]; ++c) {
        const int64_t offset = c * w.dilations[2] - w.low[2],
                      stride = w.strides[2];
        const Span span = spanInside(w.out[2], stride, offset, w.in[2]);
        const int64_t from = (y * w.in[1] + x) * w.in[2] + offset;
        for (int64_t o = span.first; o < span.last; ++o)
          states[o] =
              F::apply(states[o], static_cast<C>(load(in[from + o * stride])));
      }
    }
}

// finish(row of states, row of results, i, j) ends each row.
template <typename F, typename T, typename C, typename Finish>
KernelOr makePool(const Window &w, Finish finish) {
  ScratchPlan scratch;
  scratch.add<C>(w.out[2]);
  return makeKernel(
      [=](const Run &run) {
        C *states = run.scratch<C>(0);
        const T *in = run.in<T>(0);
        T *out = run.out<T>();
        for (int64_t plane = 0; plane < w.batch * w.channels;
             ++plane, in += w.inSize())
          for (int64_t i = 0; i < w.out[0]; ++i)
            for (int64_t j = 0; j < w.out[1]; ++j, out += w.out[2]) {
              poolRow<F>(w, in, i, j, states);
              finish(states, out, i, j);
            }
      },
      scratch);
}

KernelOr makeMaxPool(const OpDesc &op) {
  PIPEC_ASSIGN_OR_RETURN(const Window w, readPooling(op));
  return dispatch<kNum>(op.inputs[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    return makePool<Larger<C>, T, C>(
        w, [n = w.out[2]](const C *states, T *out, int64_t, int64_t) {
          for (int64_t k = 0; k < n; ++k)
            out[k] = store<T>(states[k]);
        });
  });
}

// Elements that the window of result o covers along dimension d.
int64_t covered(const Window &w, size_t d, int64_t o, bool padded) {
  const Span span =
      taps(w, d, o, padded ? -w.low[d] : 0, w.in[d] + (padded ? w.high[d] : 0));
  return span.last - span.first;
}

KernelOr makeAvgPool(const OpDesc &op) {
  PIPEC_ASSIGN_OR_RETURN(const Window w, readPooling(op));
  PIPEC_ASSIGN_OR_RETURN(const bool padded,
                         attrOr(op, "count_include_pad", false));
  std::vector<int64_t> counts;
  for (int64_t k = 0; k < w.out[2]; ++k)
    counts.push_back(covered(w, 2, k, padded));
  return dispatch<kFloat>(op.inputs[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    return makePool<Sum<C>, T, C>(
        w, [w, padded, counts](const C *states, T *out, int64_t i, int64_t j) {
          const int64_t rows =
              covered(w, 0, i, padded) * covered(w, 1, j, padded);
          for (int64_t k = 0; k < w.out[2]; ++k) {
            const int64_t count = rows * counts[k];
            out[k] = store<T>(count == 0 ? states[k]
                                         : states[k] / static_cast<C>(count));
          }
        });
  });
}

} // namespace

void registerPooling(KernelRegistry &registry) {
  registry.add("max_pool", KernelSet::Reference, makeMaxPool);
  registry.add("avg_pool", KernelSet::Reference, makeAvgPool);
}

} // namespace pipec::reference
