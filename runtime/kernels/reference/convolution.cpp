// convolution and conv_transpose. In: input N C *, weight. Out: N O *.
//
// Each result is its products added one by one, channels first, then kernel
// positions in row-major order; the inner loop runs along a row of results (of
// inputs for the transpose). Sums run in f32 for f16, bf16 and f32, in f64 for
// f64. Tests: test/unit/kernels/ConvolutionTest.cpp.
#include "runtime/kernels/reference/families.h"
#include "runtime/kernels/reference/window.h"

#include <algorithm>

namespace pipec::reference {
namespace {

// wide[o] for o in rows of `w.out`, narrow[i] for i in rows of `w.in`: visits
// the rows that kernel position (a, b, c) joins. body(out row, in row, span of
// positions along the last dimension, in offset of position 0).
template <typename F>
void forKernelPosition(const Size3 &outSizes, const Size3 &inSizes,
                       const Window &w, const Size3 &at, F &&body) {
  Span span[3];
  int64_t offset[3];
  for (size_t d = 0; d < 3; ++d) {
    offset[d] = at[d] * w.dilations[d] - w.low[d];
    span[d] = spanInside(outSizes[d], w.strides[d], offset[d], inSizes[d]);
  }
  for (int64_t i = span[0].first; i < span[0].last; ++i)
    for (int64_t j = span[1].first; j < span[1].last; ++j) {
      const int64_t row = (i * w.strides[0] + offset[0]) * inSizes[1] +
                          j * w.strides[1] + offset[1];
      body((i * outSizes[1] + j) * outSizes[2], row * inSizes[2], span[2],
           offset[2]);
    }
}

template <typename F> void forKernel(const Window &w, F &&body) {
  int64_t index = 0;
  for (int64_t a = 0; a < w.kernel[0]; ++a)
    for (int64_t b = 0; b < w.kernel[1]; ++b)
      for (int64_t c = 0; c < w.kernel[2]; ++c)
        body(Size3{a, b, c}, index++);
}

// sums[out plane] += weight * in[in plane], over all kernel positions.
template <typename T, typename C>
void convolvePlane(const Window &w, const T *in, const T *weight, C *sums) {
  forKernel(w, [&](const Size3 &at, int64_t index) {
    const C x = load(weight[index]);
    forKernelPosition(
        w.out, w.in, w, at,
        [&](int64_t outRow, int64_t inRow, Span span, int64_t offset) {
          C *to = sums + outRow;
          const int64_t stride = w.strides[2], from = inRow + offset;
          if (stride == 1)
            for (int64_t o = span.first; o < span.last; ++o)
              to[o] += x * load(in[from + o]);
          else
            for (int64_t o = span.first; o < span.last; ++o)
              to[o] += x * load(in[from + o * stride]);
        });
  });
}

// The transpose: input position i adds to result position i * stride + offset.
template <typename T, typename C>
void spreadPlane(const Window &w, const T *in, const T *weight, C *sums) {
  forKernel(w, [&](const Size3 &at, int64_t index) {
    const C x = load(weight[index]);
    forKernelPosition(
        w.in, w.out, w, at,
        [&](int64_t inRow, int64_t outRow, Span span, int64_t offset) {
          for (int64_t i = span.first; i < span.last; ++i)
            sums[outRow + offset + i * w.strides[2]] += x * load(in[inRow + i]);
        });
  });
}

template <typename T, bool Transposed> KernelOr makeConvTyped(const Window &w) {
  using C = Compute<T>;
  ScratchPlan scratch;
  scratch.add<C>(w.outSize());
  return makeKernel(
      [w](const Run &run) {
        C *sums = run.scratch<C>(0);
        T *out = run.out<T>();
        const int64_t inPerGroup = w.channels / w.groups,
                      outPerGroup = w.outChannels / w.groups;
        for (int64_t n = 0; n < w.batch; ++n)
          for (int64_t o = 0; o < w.outChannels; ++o, out += w.outSize()) {
            std::fill_n(sums, w.outSize(), C(0));
            const int64_t group = o / outPerGroup;
            for (int64_t c = 0; c < inPerGroup; ++c) {
              const int64_t channel = group * inPerGroup + c;
              const T *in =
                  run.in<T>(0) + (n * w.channels + channel) * w.inSize();
              const int64_t filter =
                  Transposed ? channel * outPerGroup + o % outPerGroup
                             : o * inPerGroup + c;
              const T *weight = run.in<T>(1) + filter * w.kernelSize();
              if (Transposed)
                spreadPlane(w, in, weight, sums);
              else
                convolvePlane(w, in, weight, sums);
            }
            for (int64_t i = 0; i < w.outSize(); ++i)
              out[i] = store<T>(sums[i]);
          }
      },
      scratch);
}

KernelOr makeConvolution(const OpDesc &op) {
  PIPEC_ASSIGN_OR_RETURN(const Window w, readConvolution(op));
  return dispatch<kFloat>(op.inputs[0].dtype, [&](auto tag) {
    return makeConvTyped<typename decltype(tag)::type, false>(w);
  });
}

KernelOr makeConvTranspose(const OpDesc &op) {
  PIPEC_ASSIGN_OR_RETURN(const Window w, readConvTranspose(op));
  return dispatch<kFloat>(op.inputs[0].dtype, [&](auto tag) {
    return makeConvTyped<typename decltype(tag)::type, true>(w);
  });
}

} // namespace

void registerConvolution(KernelRegistry &registry) {
  registry.add("convolution", KernelSet::Reference, makeConvolution);
  registry.add("conv_transpose", KernelSet::Reference, makeConvTranspose);
}

} // namespace pipec::reference
