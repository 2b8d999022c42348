// attention against f64 formulas: masks that broadcast, causality, grouped
// queries, rows with nothing to attend to.
#include "test/unit/kernels/KernelTest.h"

#include <cmath>
#include <limits>

using namespace pipec;
using namespace pipec::test;

namespace {

const double kInf = std::numeric_limits<double>::infinity();

struct Case {
  int64_t batch, heads, keyHeads, queries, keys, depth, valueDepth;
  bool causal;
  Shape mask; // {-1}: none
  DType maskType;
};

Values naive(const Case &c, const Values &q, const Values &k, const Values &v,
             const Values &mask, double scale) {
  Shape shape(4 - (c.mask.size() == 1 && c.mask[0] < 0 ? 4 : c.mask.size()), 1);
  shape.insert(shape.end(), c.mask.begin(), c.mask.end());
  Values out;
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t h = 0; h < c.heads; ++h)
      for (int64_t i = 0; i < c.queries; ++i) {
        const int64_t kv = b * c.keyHeads + h / (c.heads / c.keyHeads);
        Values weights;
        double sum = 0;
        for (int64_t j = 0; j < c.keys; ++j) {
          double score = 0;
          for (int64_t d = 0; d < c.depth; ++d)
            score += q[((b * c.heads + h) * c.queries + i) * c.depth + d] *
                     k[(kv * c.keys + j) * c.depth + d];
          score *= scale;
          if (!mask.empty()) {
            const int64_t at[4] = {b, h, i, j};
            int64_t index = 0;
            for (int d = 0; d < 4; ++d)
              index = index * shape[d] + (shape[d] == 1 ? 0 : at[d]);
            score = c.maskType == DType::Bool
                        ? (mask[index] != 0 ? score : -kInf)
                        : score + mask[index];
          }
          if (c.causal && j > i + c.keys - c.queries)
            score = -kInf;
          weights.push_back(std::exp(score));
          sum += weights.back();
        }
        for (int64_t d = 0; d < c.valueDepth; ++d) {
          double value = 0;
          for (int64_t j = 0; j < c.keys; ++j)
            value += sum == 0 ? 0
                              : weights[j] / sum *
                                    v[(kv * c.keys + j) * c.valueDepth + d];
          out.push_back(value);
        }
      }
  return out;
}

const Case kCases[] = {
    {1, 1, 1, 3, 4, 5, 6, false, {-1}, DType::Bool},
    {2, 4, 2, 3, 5, 4, 3, false, {-1}, DType::Bool},
    {2, 2, 1, 4, 4, 3, 3, true, {-1}, DType::Bool},
    {1, 2, 2, 2, 6, 3, 3, true, {-1}, DType::Bool},
    {1, 1, 1, 5, 2, 3, 3, true, {-1}, DType::Bool},
    {2, 3, 3, 4, 5, 4, 2, false, {4, 5}, DType::Bool},
    {2, 3, 3, 4, 5, 4, 2, false, {2, 1, 4, 5}, DType::F32},
    {2, 3, 1, 4, 5, 4, 2, true, {3, 1, 5}, DType::F16},
    {2, 2, 2, 4, 5, 4, 2, false, {2, 1, 1, 5}, DType::BF16},
    {1, 2, 2, 4, 5, 4, 2, false, {4, 1}, DType::F64},
    {1, 2, 2, 4, 5, 4, 2, false, {}, DType::Bool},
    {1, 2, 2, 4, 0, 4, 2, false, {-1}, DType::Bool},
    {0, 2, 2, 4, 5, 4, 2, false, {-1}, DType::Bool},
};

TEST(AttentionTest, AgainstFormulas) {
  for (DType dtype : kFloats)
    for (const Case &c : kCases) {
      const Tensor q = random(dtype, {c.batch, c.heads, c.queries, c.depth}, 1),
                   k = random(dtype, {c.batch, c.keyHeads, c.keys, c.depth}, 2);
      const Tensor v =
          random(dtype, {c.batch, c.keyHeads, c.keys, c.valueDepth}, 3);
      SCOPED_TRACE((q.type().str() + k.type().str() +
                    TensorType{c.maskType, c.mask}.str()));
      std::vector<Tensor> inputs = {q, k, v};
      Values mask;
      const bool masked = c.mask.size() != 1;
      if (masked) {
        inputs.push_back(random(c.maskType, c.mask, 4));
        mask = values(inputs.back());
      }
      Op op = Op("attention").attr("scale", 0.7).attr("causal", c.causal);
      op.attr("operands",
              std::string(masked ? "query,key,value,mask" : "query,key,value"));
      const TensorType result{dtype,
                              {c.batch, c.heads, c.queries, c.valueDepth}};
      expectValues(op.run(inputs, result),
                   naive(c, values(q), values(k), values(v), mask, 0.7), 4);
    }
}

TEST(AttentionTest, NothingToAttendToGivesZeros) {
  const Tensor q = random(DType::F32, {1, 1, 2, 3}, 1),
               v = random(DType::F32, {1, 1, 2, 3}, 2);
  for (const Tensor &mask :
       {make(DType::Bool, {2, 2}, {0, 0, 1, 0}),
        make(DType::F32, {2, 2}, {-kInf, -kInf, 0, -kInf})}) {
    const Tensor out = Op("attention")
                           .attr("scale", 1.0)
                           .run({q, q, v, mask}, {DType::F32, {1, 1, 2, 3}});
    const Values expected = values(v);
    expectValues(out, {0, 0, 0, expected[0], expected[1], expected[2]});
  }
}

} // namespace
