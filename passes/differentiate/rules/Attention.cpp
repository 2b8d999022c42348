// Derivative of attention. The probabilities are computed again from queries
// and keys. Query heads that share a key head are rows of one product.
// Tests: test/unit/passes/differentiate/AttentionDerivativesTest.cpp.
#include "passes/differentiate/Derivatives.h"

using namespace mlir;

namespace pipec::pipe {
namespace {

class AttentionVjp {
public:
  AttentionVjp(AttentionOp op, Vjp &v)
      : op(op), v(v), q(shapeOf(op.getQuery())), k(shapeOf(op.getKey())) {}

  void build() {
    Value query = rows(op.getQuery()), g = rows(v.grad());
    Value p = probabilities(query);
    if (v.needs(kValue))
      v.set(kValue, dot(rows(p), g, 2, 2));
    if (!v.needs(kQuery) && !v.needs(kKey) && !(op.getMask() && v.needs(kMask)))
      return;
    Value dp = heads(dot(g, op.getValue(), 3, 3));
    Value mean = v.reduce(ReduceKind::sum, v.chain(dp, p), {3}, /*keep=*/true);
    Value ds = v.chain(v.sub(dp, mean), p);
    if (op.getMask() && v.needs(kMask))
      v.set(kMask, v.sumTo(ds, shapeOf(op.getMask())));
    Value scaled = rows(v.mul(ds, op.getScale().convertToDouble()));
    if (v.needs(kQuery))
      v.set(kQuery, v.reshape(dot(scaled, op.getKey(), 3, 2), q));
    if (v.needs(kKey))
      v.set(kKey, dot(scaled, query, 2, 2));
  }

private:
  enum { kQuery, kKey, kValue, kMask };
  AttentionOp op;
  Vjp &v;
  ShapeRef q, k; // [B, H, Q, D], [B, Hk, K, D]

  // [B, H, Q, *] to [B, Hk, H / Hk * Q, *].
  Value rows(Value x) {
    return v.reshape(x, {q[0], k[1], q[1] / k[1] * q[2], shapeOf(x)[3]});
  }
  // And back.
  Value heads(Value x) {
    return v.reshape(x, {q[0], q[1], q[2], shapeOf(x)[3]});
  }
  // Per batch and key head, contracting dimension `l` with `r`.
  Value dot(Value lhs, Value rhs, int64_t l, int64_t r) {
    const Shape batch{0, 1};
    return DotGeneralOp::create(v.getBuilder(), v.getLoc(), lhs, rhs, batch,
                                batch, l, r);
  }

  Value minusInfinity(Value like) {
    return v.scalar(-std::numeric_limits<double>::infinity(), like);
  }

  // Hides key j from query i where j > i + K - Q.
  Value causalScores(Value scores) {
    Shape shape{q[2], k[2]};
    Value i = v.iota(shape, 0), j = v.iota(shape, 1);
    Value last =
        AddOp::create(v.getBuilder(), v.getLoc(), i, v.intScalar(k[2] - q[2]));
    return v.select(v.compare(CompareKind::le, j, last), scores,
                    minusInfinity(scores));
  }

  Value probabilities(Value query) {
    Value scores = v.mul(heads(dot(query, op.getKey(), 3, 3)),
                         op.getScale().convertToDouble());
    if (Value mask = op.getMask())
      scores = elementTypeOf(mask).isInteger(1)
                   ? v.select(mask, scores, minusInfinity(scores))
                   : v.add(scores, mask);
    if (op.getCausal())
      scores = causalScores(scores);
    Value p = SoftmaxOp::create(v.getBuilder(), v.getLoc(), scores, 3);
    // A row with nothing to attend to has zeros, not NaN.
    Value hidden = IsInfOp::create(v.getBuilder(), v.getLoc(), scores,
                                   /*detect_positive=*/false,
                                   /*detect_negative=*/true);
    return v.select(hidden, v.scalar(0, p), p);
  }
};

void attentionVjp(AttentionOp op, Vjp &v) { AttentionVjp(op, v).build(); }

} // namespace

void registerAttentionDerivatives(MLIRContext &context) {
  derive<attentionVjp>(context);
}

void registerDerivatives(MLIRContext &context) {
  registerUnaryDerivatives(context);
  registerBinaryDerivatives(context);
  registerReduceDerivatives(context);
  registerShapeDerivatives(context);
  registerIndexDerivatives(context);
  registerLinearDerivatives(context);
  registerNormDerivatives(context);
  registerAttentionDerivatives(context);
}

} // namespace pipec::pipe
