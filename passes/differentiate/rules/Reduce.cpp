// Derivatives of reductions, running combinations and top_k. Elements that are
// equal extremes share the gradient evenly (ATen's amax), or the first takes
// it. Tests: test/unit/passes/differentiate/ReduceDerivativesTest.cpp.
#include "passes/differentiate/Derivatives.h"

#include <numeric>

using namespace mlir;

namespace pipec::pipe {
namespace {

// Shape of `op`'s result with the reduced dimensions kept as 1.
Shape keptShape(ReduceOp op) {
  Shape shape(shapeOf(op.getOperand()));
  for (int64_t dim : op.getDims())
    shape[dim] = 1;
  return shape;
}

// Product of all other elements along the last dimension: of those before and
// those behind, so that zeros are right.
Value productOfOthers(Vjp &v, Value x) {
  auto last = static_cast<int64_t>(shapeOf(x).size()) - 1;
  auto running = [&](bool reverse) -> Value {
    return CumulativeOp::create(v.getBuilder(), v.getLoc(),
                                CumulativeKind::cumprod, x, last,
                                /*exclusive=*/true, reverse);
  };
  return v.mul(running(false), running(true));
}

void productVjp(ReduceOp op, Vjp &v) {
  // The reduced dimensions go last and become one.
  ShapeRef shape = shapeOf(op.getOperand());
  Shape order, back(shape.size()), flat, turned;
  int64_t count = 1;
  for (size_t d = 0; d < shape.size(); ++d)
    if (!llvm::is_contained(op.getDims(), static_cast<int64_t>(d)))
      order.push_back(static_cast<int64_t>(d));
  for (int64_t d : order)
    flat.push_back(shape[d]);
  for (int64_t d : op.getDims()) {
    order.push_back(d);
    count *= shape[d];
  }
  flat.push_back(count);
  for (auto [k, d] : llvm::enumerate(order)) {
    turned.push_back(shape[d]);
    back[d] = static_cast<int64_t>(k);
  }
  Value others =
      productOfOthers(v, v.reshape(v.transpose(op.getOperand(), order), flat));
  others = v.transpose(v.reshape(others, turned), back);
  v.set(0, v.chain(v.reshape(v.grad(), keptShape(op)), others));
}

// The first extreme takes it all (ATen's max.dim).
void firstExtremeVjp(ReduceOp op, Vjp &v) {
  int64_t dim = op.getDims().front();
  Value x = op.getOperand(), g = v.reshape(v.grad(), keptShape(op));
  Value position = ArgReduceOp::create(
      v.getBuilder(), v.getLoc(),
      op.getKind() == ReduceKind::max ? ArgReduceKind::argmax
                                      : ArgReduceKind::argmin,
      x, dim, /*keep_dims=*/true, /*select_last=*/false);
  Value isFirst = v.compare(CompareKind::eq, v.iota(shapeOf(x), dim), position);
  v.set(0, v.select(isFirst, g, v.scalar(0, g)));
}

void extremeVjp(ReduceOp op, Vjp &v) {
  if (op.getSelectFirst())
    return firstExtremeVjp(op, v);
  Value x = op.getOperand(), g = v.grad();
  Value extreme = v.reshape(op.getResult(), keptShape(op));
  Value isExtreme = v.compare(CompareKind::eq, x, extreme);
  Value ones = v.convert(isExtreme, elementTypeOf(x));
  Value count = v.reduce(ReduceKind::sum, ones, op.getDims(), /*keep=*/true);
  Value share = v.div(v.reshape(g, keptShape(op)), count);
  v.set(0, v.select(isExtreme, share, v.scalar(0, share)));
}

void reduceVjp(ReduceOp op, Vjp &v) {
  ShapeRef shape = shapeOf(op.getOperand());
  switch (op.getKind()) {
  case ReduceKind::sum:
    v.set(0, v.broadcast(v.reshape(v.grad(), keptShape(op)), shape));
    return;
  case ReduceKind::mean: {
    double count = 1;
    for (int64_t dim : op.getDims())
      count *= static_cast<double>(shape[dim]);
    Value share =
        v.div(v.reshape(v.grad(), keptShape(op)), v.scalar(count, v.grad()));
    v.set(0, v.broadcast(share, shape));
    return;
  }
  case ReduceKind::prod:
    return productVjp(op, v);
  case ReduceKind::max:
  case ReduceKind::min:
    return extremeVjp(op, v);
  }
}

Value cumulativeSum(Vjp &v, Value x, int64_t dim, bool exclusive,
                    bool reverse) {
  return CumulativeOp::create(v.getBuilder(), v.getLoc(),
                              CumulativeKind::cumsum, x, dim, exclusive,
                              reverse);
}

// dx[k] = sum over j of g[j] * (product of the elements of result j but k).
// With x spread to [k, j] and its diagonal 1, that product is a running one
// along j: exact where elements are 0.
void cumprodVjp(CumulativeOp op, Vjp &v) {
  Value x = op.getOperand(), g = v.grad();
  auto dim = static_cast<int64_t>(op.getDim());
  ShapeRef shape = shapeOf(x);
  int64_t n = shape[dim];
  Shape spread(shape), alongJ(shape);
  spread.insert(spread.begin() + dim, n);
  alongJ.insert(alongJ.begin() + dim, 1);
  Value k = v.iota(spread, dim), j = v.iota(spread, dim + 1);
  Value diagonal = v.compare(CompareKind::eq, k, j);
  Value others = v.select(diagonal, v.scalar(1, x),
                          v.broadcast(v.reshape(x, alongJ), spread));
  Value running =
      CumulativeOp::create(v.getBuilder(), v.getLoc(), CumulativeKind::cumprod,
                           others, dim + 1, op.getExclusive(), op.getReverse());
  // Results that element k is part of.
  CompareKind partOf =
      op.getReverse() ? (op.getExclusive() ? CompareKind::gt : CompareKind::ge)
                      : (op.getExclusive() ? CompareKind::lt : CompareKind::le);
  Value term = v.chain(v.reshape(g, alongJ), running);
  term = v.select(v.compare(partOf, k, j), term, v.scalar(0, term));
  v.set(0, v.reduce(ReduceKind::sum, term, {dim + 1}, /*keep=*/false));
}

void cumulativeVjp(CumulativeOp op, Vjp &v) {
  if (op.getKind() == CumulativeKind::cumprod)
    return cumprodVjp(op, v);
  v.set(0, cumulativeSum(v, v.grad(), op.getDim(), op.getExclusive(),
                         !op.getReverse()));
}

void topKVjp(TopKOp op, Vjp &v) {
  if (!v.grad(0))
    return;
  v.set(0,
        ScatterElementsOp::create(v.getBuilder(), v.getLoc(), ScatterKind::add,
                                  v.zeros(op.getOperand().getType()),
                                  op.getIndices(), v.grad(0), op.getDim()));
}

} // namespace

void registerReduceDerivatives(MLIRContext &context) {
  derive<reduceVjp>(context);
  derive<cumulativeVjp>(context);
  derive<topKVjp>(context);
}

} // namespace pipec::pipe
