// Derivatives of matrix products, convolutions and pools. Those of a product
// are products, those of a convolution convolutions: the same kernels serve.
// Tests: test/unit/passes/differentiate/LinearDerivativesTest.cpp.
#include "passes/differentiate/Derivatives.h"

#include <numeric>

using namespace mlir;

namespace pipec::pipe {
namespace {

// ---- dot_general

// One side of a product: which of its dimensions are batch, contracted, free.
struct Side {
  Value value;
  llvm::ArrayRef<int64_t> batch, contract;
  Shape freeDims() const {
    Shape dims;
    for (int64_t d = 0; d < static_cast<int64_t>(shapeOf(value).size()); ++d)
      if (!llvm::is_contained(batch, d) && !llvm::is_contained(contract, d))
        dims.push_back(d);
    return dims;
  }
};

// Gradient of `side`: g, whose dimensions are batch, `side`'s free ones and
// `other`'s in the order that `firstFree` says, contracted with `other`'s free
// dimensions. The result is batch, free of `side`, contracted; put in order.
Value dotGradient(Vjp &v, const Side &side, const Side &other, bool sideIsLhs) {
  auto batches = static_cast<int64_t>(side.batch.size());
  Shape sideFree = side.freeDims(), otherFree = other.freeDims();
  Shape gBatch(batches), gContract(otherFree.size());
  std::iota(gBatch.begin(), gBatch.end(), 0);
  std::iota(gContract.begin(), gContract.end(),
            batches + (sideIsLhs ? sideFree.size() : 0));
  Value product =
      DotGeneralOp::create(v.getBuilder(), v.getLoc(), v.grad(), other.value,
                           gBatch, other.batch, gContract, otherFree);
  // What is left of `other` is its contracted dimensions, ascending.
  llvm::SmallVector<size_t> ranks(other.contract.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  llvm::sort(ranks, [&](size_t a, size_t b) {
    return other.contract[a] < other.contract[b];
  });
  Shape order(shapeOf(side.value).size());
  int64_t at = 0;
  for (int64_t d : side.batch)
    order[d] = at++;
  for (int64_t d : sideFree)
    order[d] = at++;
  for (size_t k : ranks)
    order[side.contract[k]] = at++;
  return v.transpose(product, order);
}

void dotGeneralVjp(DotGeneralOp op, Vjp &v) {
  Side lhs{op.getLhs(), op.getLhsBatch(), op.getLhsContract()};
  Side rhs{op.getRhs(), op.getRhsBatch(), op.getRhsContract()};
  if (v.needs(0))
    v.set(0, dotGradient(v, lhs, rhs, /*sideIsLhs=*/true));
  if (v.needs(1))
    v.set(1, dotGradient(v, rhs, lhs, /*sideIsLhs=*/false));
}

// ---- convolutions

struct Geometry {
  llvm::ArrayRef<int64_t> strides, padding, dilations;
  int64_t groups = 1;
  size_t spatial() const { return strides.size(); }
};

// N C * to C/groups, groups * N, *: channels of a group become the batch.
Value channelsFirst(Vjp &v, Value x, int64_t groups) {
  ShapeRef shape = shapeOf(x);
  ShapeRef spatial = shape.drop_front(2);
  int64_t perGroup = shape[1] / groups;
  Shape apart{shape[0], groups, perGroup}, order{2, 1, 0};
  Shape joined{perGroup, groups * shape[0]};
  for (size_t d = 0; d < spatial.size(); ++d)
    order.push_back(static_cast<int64_t>(d) + 3);
  llvm::append_range(apart, spatial);
  llvm::append_range(joined, spatial);
  return v.reshape(v.transpose(v.reshape(x, apart), order), joined);
}

// Swaps the first two dimensions.
Value swapped(Vjp &v, Value x) {
  Shape order(shapeOf(x).size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[0], order[1]);
  return v.transpose(x, order);
}

// Gradient of a weight of `shape` (O, C/groups, *) of a convolution of `input`
// whose result has gradient `grad`: the input convolved with the gradient,
// strides and dilations in each other's place.
Value weightGradient(Vjp &v, Value input, Value grad, ShapeRef shape,
                     const Geometry &how) {
  Value sums = ConvolutionOp::create(
      v.getBuilder(), v.getLoc(), channelsFirst(v, input, how.groups),
      swapped(v, grad), how.dilations, how.padding, how.strides, how.groups);
  // Positions beyond the window: the input's end that no window reached.
  for (size_t d = 2; d < shape.size(); ++d)
    sums = v.slice(sums, static_cast<int64_t>(d), 0, shape[d]);
  return swapped(v, sums);
}

// What a transposed convolution lacks to reach `shape`.
Shape outputPadding(ShapeRef shape, ShapeRef grad, ShapeRef kernel,
                    const Geometry &how) {
  Shape extra;
  for (size_t d = 0; d < how.spatial(); ++d) {
    int64_t reach = how.dilations[d] * (kernel[d + 2] - 1) + 1;
    int64_t size = (grad[d + 2] - 1) * how.strides[d] - how.padding[d] -
                   how.padding[how.spatial() + d] + reach;
    extra.push_back(shape[d + 2] - size);
  }
  return extra;
}

void convolutionVjp(ConvolutionOp op, Vjp &v) {
  Geometry how{op.getStrides(), op.getPadding(), op.getDilations(),
               static_cast<int64_t>(op.getGroups())};
  ShapeRef kernel = shapeOf(op.getWeight());
  if (v.needs(0))
    v.set(0, ConvTransposeOp::create(
                 v.getBuilder(), v.getLoc(), v.grad(), op.getWeight(),
                 how.strides, how.padding, how.dilations,
                 outputPadding(shapeOf(op.getInput()), shapeOf(v.grad()),
                               kernel, how),
                 how.groups));
  if (v.needs(1))
    v.set(1, weightGradient(v, op.getInput(), v.grad(), kernel, how));
}

void convTransposeVjp(ConvTransposeOp op, Vjp &v) {
  Geometry how{op.getStrides(), op.getPadding(), op.getDilations(),
               static_cast<int64_t>(op.getGroups())};
  if (v.needs(0)) {
    Value g = ConvolutionOp::create(v.getBuilder(), v.getLoc(), v.grad(),
                                    op.getWeight(), how.strides, how.padding,
                                    how.dilations, how.groups);
    // An output padding of a stride or more adds windows that nothing made.
    ShapeRef shape = shapeOf(op.getInput());
    for (size_t d = 2; d < shape.size(); ++d)
      g = v.slice(g, static_cast<int64_t>(d), 0, shape[d]);
    v.set(0, g);
  }
  if (v.needs(1))
    v.set(1, weightGradient(v, v.grad(), op.getInput(), shapeOf(op.getWeight()),
                            how));
}

// ---- pools

void maxPoolVjp(MaxPoolOp op, Vjp &v) {
  v.set(0, MaxPoolGradOp::create(v.getBuilder(), v.getLoc(), op.getInput(),
                                 v.grad(), op.getWindow(), op.getStrides(),
                                 op.getPadding(), op.getDilations(),
                                 op.getCeilMode()));
}

void avgPoolVjp(AvgPoolOp op, Vjp &v) {
  v.set(0, AvgPoolGradOp::create(
               v.getBuilder(), v.getLoc(), v.grad(), shapeOf(op.getInput()),
               op.getWindow(), op.getStrides(), op.getPadding(),
               op.getDilations(), op.getCountIncludePad(), op.getCeilMode()));
}

} // namespace

void registerLinearDerivatives(MLIRContext &context) {
  derive<dotGeneralVjp>(context);
  derive<convolutionVjp>(context);
  derive<convTransposeVjp>(context);
  derive<maxPoolVjp>(context);
  derive<avgPoolVjp>(context);
}

} // namespace pipec::pipe
