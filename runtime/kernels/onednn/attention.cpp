// attention by two oneDNN matmuls a head, f32, with the reference softmax
// between them. In: query, key, value and perhaps a mask. Out: [B, H, Q, Dv].
// Tests: test/unit/kernels/OneDnnTest.cpp.
#include "runtime/kernels/onednn/matmul.h"
#include "runtime/kernels/reference/attention_dims.h"

namespace pipec::onednn {
namespace {

using reference::AttentionDims;

constexpr int64_t kLeast = 4096; // multiply-adds a head

MatmulShape scoresShape(const AttentionDims &d) {
  return {dnnl::memory::data_type::f32,
          {},
          d.queries,
          d.keys,
          d.depth,
          {{}, d.depth, 1},
          {{}, 1, d.depth},
          {{}, d.keys, 1}};
}

MatmulShape valuesShape(const AttentionDims &d) {
  return {dnnl::memory::data_type::f32,
          {},
          d.queries,
          d.valueDepth,
          d.keys,
          {{}, d.keys, 1},
          {{}, d.valueDepth, 1},
          {{}, d.valueDepth, 1}};
}

class AttentionKernel final : public Kernel {
public:
  AttentionKernel(const OpDesc &op, const AttentionDims &d)
      : name(reference::opText(op)), d(d), stream(engine()),
        scoresProduct(scoresShape(d)), valuesProduct(valuesShape(d)) {
    scoresAt = plan.add<float>(d.queries * d.keys);
    firstScratchpad =
        plan.add<char>(static_cast<int64_t>(scoresProduct.scratchBytes()));
    secondScratchpad =
        plan.add<char>(static_cast<int64_t>(valuesProduct.scratchBytes()));
  }

  bool fits() const { return plan.fits(); }
  size_t scratchBytes() const override { return plan.bytes(); }

  Status run(const std::vector<TensorView> &in,
             const std::vector<TensorView> &out, void *memory) override {
    return guardedRun(name, [&] {
      char *scratch = static_cast<char *>(memory);
      float *scores = reinterpret_cast<float *>(scratch + scoresAt);
      const void *mask = d.maskStrides.empty() ? nullptr : in[3].data;
      const float scale = static_cast<float>(d.scale);
      for (int64_t bh = 0; bh < d.batch * d.heads; ++bh) {
        const int64_t b = bh / d.heads, h = bh % d.heads;
        const int64_t kv = b * d.keyHeads + h / (d.heads / d.keyHeads);
        scoresProduct.run(in[0].as<float>() + bh * d.queries * d.depth,
                          in[1].as<float>() + kv * d.keys * d.depth, scores,
                          scratch + firstScratchpad, stream);
        for (int64_t i = 0; i < d.queries; ++i) {
          float *row = scores + i * d.keys;
          for (int64_t j = 0; j < d.keys; ++j)
            row[j] *= scale;
          reference::attentionProbabilities(d, mask, b, h, i, row);
        }
        valuesProduct.run(scores,
                          in[2].as<float>() + kv * d.keys * d.valueDepth,
                          out[0].as<float>() + bh * d.queries * d.valueDepth,
                          scratch + secondScratchpad, stream);
      }
    });
  }

private:
  std::string name;
  AttentionDims d;
  dnnl::stream stream;
  Matmul scoresProduct, valuesProduct;
  reference::ScratchPlan plan;
  size_t scoresAt = 0, firstScratchpad = 0, secondScratchpad = 0;
};

bool supportsAttention(const OpDesc &op) {
  return op.inputs.size() >= 3 && op.inputs[0].dtype == DType::F32;
}

StatusOr<std::unique_ptr<Kernel>> makeAttention(const OpDesc &op) {
  PIPEC_ASSIGN_OR_RETURN(const AttentionDims d, reference::readAttention(op));
  if (d.batch * d.heads == 0 || d.valueDepth == 0 ||
      static_cast<__int128>(d.queries) * d.keys * d.depth < kLeast)
    return unsupported("too small to gain by oneDNN");
  return guardedMake([&]() -> StatusOr<std::unique_ptr<Kernel>> {
    auto kernel = std::make_unique<AttentionKernel>(op, d);
    if (!kernel->fits())
      return resourceExhausted(
          "needs more than 2^62 bytes of temporary memory");
    return std::unique_ptr<Kernel>(std::move(kernel));
  });
}

} // namespace

void registerAttention(KernelRegistry &registry) {
  registry.add("attention", KernelSet::OneDnn, makeAttention,
               supportsAttention);
}

} // namespace pipec::onednn
