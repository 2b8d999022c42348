// attention: softmax(q k^T * scale + mask) v per head. In: query, key, value
// and perhaps a mask. Out: [B, H, Q, Dv], rounded once.
//
// Scores add their products in ascending depth, results in ascending key, in
// f32 (f64 for f64); the softmax is softmax_row.h's over the visible keys.
// Tests: test/unit/kernels/AttentionTest.cpp.
#include "runtime/kernels/reference/attention_dims.h"
#include "runtime/kernels/reference/families.h"
#include "runtime/kernels/reference/softmax_row.h"

#include <algorithm>

namespace pipec::reference {
namespace {

template <typename C, typename M>
void addMask(const M *mask, int64_t stride, int64_t n, C *scores) {
  for (int64_t j = 0; j < n; ++j) {
    if constexpr (std::is_same_v<M, Bool>)
      scores[j] = mask[j * stride].byte ? scores[j]
                                        : -std::numeric_limits<C>::infinity();
    else
      scores[j] += static_cast<C>(load(mask[j * stride]));
  }
}

template <typename C>
void applyMask(const AttentionDims &d, const void *mask, int64_t offset,
               int64_t n, C *scores) {
  const int64_t stride = d.maskStrides[3];
  switch (d.mask) {
  case DType::Bool:
    return addMask(static_cast<const Bool *>(mask) + offset, stride, n, scores);
  case DType::F16:
    return addMask(static_cast<const Half *>(mask) + offset, stride, n, scores);
  case DType::BF16:
    return addMask(static_cast<const BFloat16 *>(mask) + offset, stride, n,
                   scores);
  case DType::F32:
    return addMask(static_cast<const float *>(mask) + offset, stride, n,
                   scores);
  default:
    return addMask(static_cast<const double *>(mask) + offset, stride, n,
                   scores);
  }
}

template <typename T, typename C>
const C *converted(const T *from, int64_t n, C *to) {
  for (int64_t i = 0; i < n; ++i)
    to[i] = load(from[i]);
  return to;
}

template <typename T> KernelOr makeTyped(const AttentionDims &d) {
  using C = Compute<T>;
  ScratchPlan scratch;
  const size_t keysAt = scratch.add<C>(d.depth * d.keys),
               valuesAt = scratch.add<C>(d.keys * d.valueDepth);
  const size_t scoresAt = scratch.add<C>(d.keys),
               sumsAt = scratch.add<C>(d.valueDepth);
  return makeKernel(
      [=](const Run &run) {
        C *keys = run.scratch<C>(
            keysAt); // [depth, keys], so that scores of one query lie together
        C *scores = run.scratch<C>(scoresAt), *sums = run.scratch<C>(sumsAt);
        const void *mask = d.maskStrides.empty() ? nullptr : run.inputs[3].data;
        const C scale = static_cast<C>(d.scale);
        for (int64_t bh = 0; bh < d.batch * d.heads; ++bh) {
          const int64_t b = bh / d.heads, h = bh % d.heads;
          const int64_t kv = b * d.keyHeads + h / (d.heads / d.keyHeads);
          for (int64_t j = 0; j < d.keys; ++j)
            for (int64_t p = 0; p < d.depth; ++p)
              keys[p * d.keys + j] =
                  load(run.in<T>(1)[(kv * d.keys + j) * d.depth + p]);
          const C *values =
              converted(run.in<T>(2) + kv * d.keys * d.valueDepth,
                        d.keys * d.valueDepth, run.scratch<C>(valuesAt));
          for (int64_t i = 0; i < d.queries; ++i) {
            const T *query = run.in<T>(0) + (bh * d.queries + i) * d.depth;
            const int64_t visible = d.visibleKeys(i);
            std::fill_n(scores, visible, C(0));
            for (int64_t p = 0; p < d.depth; ++p) {
              const C q = load(query[p]);
              for (int64_t j = 0; j < visible; ++j)
                scores[j] += q * keys[p * d.keys + j];
            }
            for (int64_t j = 0; j < visible; ++j)
              scores[j] *= scale;
            attentionProbabilities(d, mask, b, h, i, scores);
            std::fill_n(sums, d.valueDepth, C(0));
            for (int64_t j = 0; j < visible; ++j)
              for (int64_t v = 0; v < d.valueDepth; ++v)
                sums[v] += scores[j] * values[j * d.valueDepth + v];
            T *out = run.out<T>() + (bh * d.queries + i) * d.valueDepth;
            for (int64_t v = 0; v < d.valueDepth; ++v)
              out[v] = store<T>(sums[v]);
          }
        }
      },
      scratch);
}

KernelOr makeAttention(const OpDesc &op) {
  PIPEC_ASSIGN_OR_RETURN(const AttentionDims dims, readAttention(op));
  return dispatch<kFloat>(op.inputs[0].dtype, [&](auto tag) {
    return makeTyped<typename decltype(tag)::type>(dims);
  });
}

} // namespace

template <typename C>
void attentionProbabilities(const AttentionDims &d, const void *mask, int64_t b,
                            int64_t h, int64_t i, C *scores) {
  const int64_t visible = d.visibleKeys(i);
  if (mask)
    applyMask(d, mask,
              b * d.maskStrides[0] + h * d.maskStrides[1] +
                  i * d.maskStrides[2],
              visible, scores);
  const C max = maxOfRow(scores, visible);
  if (max == -std::numeric_limits<C>::infinity())
    std::fill_n(scores, visible, C(0));
  else
    softmaxRow(scores, visible, max);
  std::fill_n(scores + visible, d.keys - visible, C(0));
}

template void attentionProbabilities(const AttentionDims &, const void *,
                                     int64_t, int64_t, int64_t, float *);
template void attentionProbabilities(const AttentionDims &, const void *,
                                     int64_t, int64_t, int64_t, double *);

StatusOr<AttentionDims> readAttention(const OpDesc &op) {
  PIPEC_ASSIGN_OR_RETURN(
      const std::vector<int> at,
      operandPositions(op, {"query", "key", "value", "mask"}, 3));
  PIPEC_RETURN_IF_ERROR(checkArity(op, op.inputs.size()));
  for (size_t i : {1, 2})
    PIPEC_RETURN_IF_ERROR(checkSameDType(op, 0, i));
  const Shape &q = op.inputs[0].shape, &k = op.inputs[1].shape,
              &v = op.inputs[2].shape;
  if (q.size() != 4 || k.size() != 4 || v.size() != 4 || k[0] != q[0] ||
      k[3] != q[3] || k[1] < 1 || q[1] % k[1] != 0 || v[0] != k[0] ||
      v[1] != k[1] || v[2] != k[2])
    return invalidArgument(
        "query " + op.inputs[0].str() + ", key " + op.inputs[1].str() +
        " and value " + op.inputs[2].str() +
        " do not fit as [B, H, Q, D], [B, Hk, K, D] and [B, Hk, K, Dv]");
  AttentionDims d{q[0], q[1], k[1],  q[2],        k[2], q[3],
                  v[3], 0,    false, DType::Bool, {}};
  PIPEC_ASSIGN_OR_RETURN(d.scale, op.get<double>("scale"));
  PIPEC_ASSIGN_OR_RETURN(d.causal, attrOr(op, "causal", false));
  PIPEC_RETURN_IF_ERROR(
      checkResult(op, {op.inputs[0].dtype, {q[0], q[1], q[2], v[3]}}));
  if (at[3] >= 0) {
    d.mask = op.inputs[3].dtype;
    if (d.mask != DType::Bool && !isFloat(d.mask))
      return invalidArgument("mask is " + op.inputs[3].str() +
                             ", expected bool or a float type");
    PIPEC_ASSIGN_OR_RETURN(
        d.maskStrides,
        broadcastStrides(op.inputs[3].shape, {q[0], q[1], q[2], k[2]}));
  }
  return d;
}

void registerAttention(KernelRegistry &registry) {
  registry.add("attention", KernelSet::Reference, makeAttention);
}

} // namespace pipec::reference
