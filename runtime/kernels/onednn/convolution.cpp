// convolution and conv_transpose by oneDNN, f32. In and out: plain N C *.
//
// The library chooses the layouts it is fastest in; data are reordered to them
// and back, which costs one pass over each tensor and gains a factor of two and
// more in the convolution. Negative padding stays with the reference kernel.
// Tests: test/unit/kernels/OneDnnTest.cpp.
#include "runtime/kernels/onednn/library.h"
#include "runtime/kernels/reference/window.h"

#include <algorithm>

namespace pipec::onednn {
namespace {

using reference::Window;
using Type = dnnl::memory::data_type;
using Tag = dnnl::memory::format_tag;

constexpr int64_t kLeast = 4096; // multiply-adds

Dims spatial(const Window &w, const reference::Size3 &sizes, int64_t plus = 0) {
  Dims dims(sizes.begin() + (3 - w.spatialDims), sizes.end());
  for (int64_t &dim : dims)
    dim += plus;
  return dims;
}

MemoryDesc dense(const Dims &dims) {
  const reference::Shape strides = reference::rowMajorStrides(dims);
  return MemoryDesc(dims, Type::f32, Dims(strides.begin(), strides.end()));
}

// The same sizes in a layout of the library's choice.
MemoryDesc any(const MemoryDesc &desc) {
  return MemoryDesc(desc.get_dims(), Type::f32, Tag::any);
}

Dims join(Dims a, const Dims &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// The weights as the library names them: [groups,] output channels, input
// channels, kernel.
MemoryDesc weightDesc(const Window &w, bool transposed) {
  const int64_t o = w.outChannels / w.groups, c = w.channels / w.groups,
                k = w.kernelSize();
  const Dims kernel = spatial(w, w.kernel);
  Dims dims = {w.groups, o, c},
       strides = {o * c * k, transposed ? k : c * k, transposed ? o * k : k};
  dims = join(dims, kernel);
  const reference::Shape inner = reference::rowMajorStrides(kernel);
  strides = join(strides, Dims(inner.begin(), inner.end()));
  if (w.groups == 1) {
    dims.erase(dims.begin());
    strides.erase(strides.begin());
  }
  return MemoryDesc(dims, Type::f32, strides);
}

class ConvolutionKernel final : public Kernel {
public:
  ConvolutionKernel(const OpDesc &op, const Window &w, bool transposed)
      : name(reference::opText(op)), stream(engine()) {
    const MemoryDesc src = dense(join({w.batch, w.channels}, spatial(w, w.in)));
    const MemoryDesc dst =
        dense(join({w.batch, w.outChannels}, spatial(w, w.out)));
    const MemoryDesc weights = weightDesc(w, transposed);
    const Dims strides = spatial(w, w.strides),
               dilations = spatial(w, w.dilations, -1);
    const Dims low = spatial(w, w.low);
    if (transposed) {
      // The library has no output padding of its own: it is less padding at the
      // high end.
      reference::Size3 high = w.high;
      for (size_t d = 0; d < 3; ++d)
        high[d] -= w.outputPadding[d];
      using Forward = dnnl::deconvolution_forward;
      make<Forward>(Forward::primitive_desc(
                        engine(), dnnl::prop_kind::forward_inference,
                        dnnl::algorithm::deconvolution_direct, any(src),
                        any(weights), any(dst), strides, dilations, low,
                        spatial(w, high), attributes()),
                    src, weights, dst);
    } else {
      using Forward = dnnl::convolution_forward;
      make<Forward>(
          Forward::primitive_desc(engine(), dnnl::prop_kind::forward_inference,
                                  dnnl::algorithm::convolution_direct, any(src),
                                  any(weights), any(dst), strides, dilations,
                                  low, spatial(w, w.high), attributes()),
          src, weights, dst);
    }
  }

  bool fits() const { return plan.fits(); }
  size_t scratchBytes() const override { return plan.bytes(); }

  Status run(const std::vector<TensorView> &in,
             const std::vector<TensorView> &out, void *memory) override {
    return guardedRun(name, [&] {
      char *scratch = static_cast<char *>(memory);
      const void *src = before(source, in[0].data, scratch),
                 *weights = before(weight, in[1].data, scratch);
      void *dst = result.needed ? scratch + result.at : out[0].data;
      main.bind(DNNL_ARG_SRC, src);
      main.bind(DNNL_ARG_WEIGHTS, weights);
      main.bind(DNNL_ARG_DST, dst);
      main.bind(DNNL_ARG_SCRATCHPAD, scratch + scratchpad);
      main.run(stream);
      if (result.needed)
        reorder(result, dst, out[0].data, scratch);
    });
  }

private:
  struct Reorder {
    bool needed = false;
    Step step;
    size_t at = 0; // of the tensor in the library's layout
    size_t scratchpad = 0;
  };

  template <typename Forward>
  void make(const typename Forward::primitive_desc &desc, const MemoryDesc &src,
            const MemoryDesc &weights, const MemoryDesc &dst) {
    if (isSlow(desc.impl_info_str()))
      throw dnnl::error(dnnl_unimplemented,
                        "only slow code for this convolution");
    main = Step(Forward(desc));
    main.argument(DNNL_ARG_SRC, desc.src_desc());
    main.argument(DNNL_ARG_WEIGHTS, desc.weights_desc());
    main.argument(DNNL_ARG_DST, desc.dst_desc());
    main.argument(DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc());
    scratchpad = place(desc.scratchpad_desc());
    makeReorder(source, src, desc.src_desc(), desc.src_desc());
    makeReorder(weight, weights, desc.weights_desc(), desc.weights_desc());
    makeReorder(result, desc.dst_desc(), dst, desc.dst_desc());
  }

  size_t place(const MemoryDesc &desc) {
    return plan.add<char>(static_cast<int64_t>(desc.get_size()));
  }

  void makeReorder(Reorder &r, const MemoryDesc &from, const MemoryDesc &to,
                   const MemoryDesc &inLibraryLayout) {
    r.needed = from != to;
    if (!r.needed)
      return;
    const dnnl::reorder::primitive_desc desc(engine(), from, engine(), to,
                                             attributes());
    r.step = Step(dnnl::reorder(desc));
    r.step.argument(DNNL_ARG_FROM, from);
    r.step.argument(DNNL_ARG_TO, to);
    r.step.argument(DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc());
    r.at = place(inLibraryLayout);
    r.scratchpad = place(desc.scratchpad_desc());
  }

  void reorder(Reorder &r, const void *from, void *to, char *scratch) {
    r.step.bind(DNNL_ARG_FROM, from);
    r.step.bind(DNNL_ARG_TO, to);
    r.step.bind(DNNL_ARG_SCRATCHPAD, scratch + r.scratchpad);
    r.step.run(stream);
  }

  const void *before(Reorder &r, const void *data, char *scratch) {
    if (!r.needed)
      return data;
    reorder(r, data, scratch + r.at, scratch);
    return scratch + r.at;
  }

  std::string name;
  dnnl::stream stream;
  Step main;
  Reorder source, weight, result;
  reference::ScratchPlan plan;
  size_t scratchpad = 0;
};

bool isF32(const OpDesc &op) {
  return op.inputs.size() == 2 && op.inputs[0].dtype == DType::F32;
}

StatusOr<std::unique_ptr<Kernel>> make(const OpDesc &op, const Window &w,
                                       bool transposed) {
  const int64_t positions = transposed ? w.inSize() : w.outSize();
  const auto products = static_cast<__int128>(w.batch) * w.outChannels *
                        (w.channels / w.groups) * w.kernelSize();
  const bool empty = w.inSize() == 0 || w.outSize() == 0 || products == 0;
  const bool crops = std::any_of(w.low.begin(), w.low.end(),
                                 [](int64_t p) { return p < 0; }) ||
                     std::any_of(w.high.begin(), w.high.end(),
                                 [](int64_t p) { return p < 0; });
  if (empty || crops ||
      products < kLeast / std::max<int64_t>(1, std::min(positions, kLeast)))
    return unsupported("empty, cropped or too small to gain by oneDNN");
  return guardedMake([&]() -> StatusOr<std::unique_ptr<Kernel>> {
    auto kernel = std::make_unique<ConvolutionKernel>(op, w, transposed);
    if (!kernel->fits())
      return resourceExhausted(
          "needs more than 2^62 bytes of temporary memory");
    return std::unique_ptr<Kernel>(std::move(kernel));
  });
}

StatusOr<std::unique_ptr<Kernel>> makeConvolution(const OpDesc &op) {
  PIPEC_ASSIGN_OR_RETURN(const Window w, reference::readConvolution(op));
  return make(op, w, false);
}

StatusOr<std::unique_ptr<Kernel>> makeConvTranspose(const OpDesc &op) {
  PIPEC_ASSIGN_OR_RETURN(const Window w, reference::readConvTranspose(op));
  return make(op, w, true);
}

} // namespace

void registerConvolution(KernelRegistry &registry) {
  registry.add("convolution", KernelSet::OneDnn, makeConvolution, isF32);
  registry.add("conv_transpose", KernelSet::OneDnn, makeConvTranspose, isF32);
}

} // namespace pipec::onednn
