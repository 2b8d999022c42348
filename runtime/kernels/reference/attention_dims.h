// attention's geometry, checked. Used by the reference and the oneDNN kernel.
#ifndef PIPEC_RUNTIME_KERNELS_REFERENCE_ATTENTION_DIMS_H
#define PIPEC_RUNTIME_KERNELS_REFERENCE_ATTENTION_DIMS_H

#include "runtime/kernels/reference/support.h"

#include <algorithm>

namespace pipec::reference {

struct AttentionDims {
  int64_t batch, heads, keyHeads, queries, keys, depth, valueDepth;
  double scale;
  bool causal;
  DType mask = DType::Bool; // its element type, where there is one
  Shape maskStrides; // over [batch, heads, queries, keys]; empty: no mask

  /// Keys that query i may see under `causal`: those before this.
  int64_t visibleKeys(int64_t i) const {
    return causal ? std::min(keys, std::max<int64_t>(0, i + keys - queries + 1))
                  : keys;
  }
};

/// Reads and checks an attention op: operands, shapes, attributes and result
/// type.
StatusOr<AttentionDims> readAttention(const OpDesc &op);

/// Masks `scores` (one row, query i of head h of batch b, already scaled) and
/// makes them probabilities, in place; keys that are not visible get 0, and so
/// does every key of a row with nothing to attend to. `mask` is the operand or
/// null.
template <typename C>
void attentionProbabilities(const AttentionDims &d, const void *mask, int64_t b,
                            int64_t h, int64_t i, C *scores);

} // namespace pipec::reference

#endif
