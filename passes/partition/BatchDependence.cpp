// What each tensor op makes of the batch dimension: see BatchDependence.h.
// A rule maps the dimension that the rows lie along, notes that they are
// combined or mixed, or loses track; it never guesses.
// Tests: test/passes/partition/batch-mixes*.mlir,
// test/unit/passes/partition/BatchCouplingTest.cpp.
#include "passes/partition/BatchDependence.h"

#include "ir/ShapeInference.h"
#include "passes/partition/WholeRegion.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace pipec::pipe {
namespace {

using D = BatchDependence;
using Combination = D::Combination;

/// An operand, and where in the result its rows lie; -1: nowhere that is known.
struct Part {
  D d;
  int64_t dim;
};
Part inPlace(const D &d) { return {d, d.dim}; }

/// Dimension of `to` that holds the rows of dimension `dim` of `from`; -1 where
/// a reshape takes rows apart or joins them with what is before them.
int64_t reshaped(ShapeRef from, int64_t dim, ShapeRef to, int64_t rows) {
  int64_t before = 1, prefix = 1;
  for (int64_t d = 0; d < dim; ++d)
    before *= from[d];
  for (auto [e, size] : llvm::enumerate(to)) {
    if (prefix == before && size > 0 && size % rows == 0)
      return static_cast<int64_t>(e);
    prefix *= size;
  }
  return -1;
}

/// Position of `dim` in `dims`, or -1.
int64_t indexIn(ShapeRef dims, int64_t dim) {
  const auto *at = llvm::find(dims, dim);
  return dim < 0 || at == dims.end() ? -1 : at - dims.begin();
}

class Rules {
public:
  Rules(Operation *op, int64_t rows, llvm::function_ref<D(Value)> of)
      : op(op), rows(rows), of(of) {}

  D run();

private:
  Operation *op;
  int64_t rows;
  llvm::function_ref<D(Value)> of;

  void mixInto(D &d, llvm::StringLiteral what) const {
    if (d.counts)
      d = lost(d);
    else
      d.addMixes({{op, what}});
    d.combination = Combination::none;
  }
  /// Mixed, and the rows lie nowhere any more.
  D scattered(D d, llvm::StringLiteral what) const {
    mixInto(d, what);
    d.dim = -1;
    return d;
  }
  /// What is left of `d` where its rows are not followed.
  static D lost(D d) {
    d.dim = -1;
    d.combination = Combination::none;
    d.lost = !d.isMixed();
    return d;
  }
  /// As positions to read or write at: whatever mixed them, the values there
  /// may be put back by their inverse.
  static D asPositions(D d) {
    if (!d.isMixed() && !d.isCombined())
      return d;
    d.mixed.clear();
    return lost(d);
  }
  D combinedRows(const D &d, Combination how, llvm::StringLiteral what) const {
    D result;
    result.mixed = d.mixed;
    result.counts = d.counts;
    if (!d.isMixed()) {
      const bool isKnown = !d.weighed || how == Combination::other;
      result.combination = isKnown ? how : Combination::scaled;
      result.combiner = {op, what};
    }
    return result;
  }

  bool isLearned();
  D giveUp();
  D joined(ArrayRef<Part> parts);
  D combined(ArrayRef<Part> parts);
  static D kept(ArrayRef<Part> parts);
  static D bent(ArrayRef<Part> parts);
  D product(ArrayRef<Part> parts);

  D elementwise();
  D keptBy(bool isUntouched);
  D along(int64_t dim, llvm::StringLiteral what);
  D reduce(ReduceOp reduce);
  D argReduce(ArgReduceOp reduce);
  D topK(TopKOp topK);
  D dot(DotGeneralOp dot);
  D concat(ConcatOp concat);
  D slice(SliceOp slice);
  D gather(GatherOp gather);
  D gatherElements(GatherElementsOp gather);
  D gatherNd(GatherNdOp gather);
  D scatterElements(ScatterElementsOp scatter);
  D scatterNd(ScatterNdOp scatter);
  D window(int64_t lastKept);
  D groupNorm(GroupNormOp norm);
  D attention(AttentionOp attention);
  D crossEntropy(CrossEntropyOp loss);
};

/// Mixed where an operand is, else lost.
D Rules::giveUp() {
  D result;
  result.counts = true;
  for (Value operand : op->getOperands()) {
    D d = of(operand);
    result.counts &= d.isWhole() ? !d.learned : d.counts;
    result.addMixes(d.mixed);
  }
  return lost(result);
}

/// What an op makes of operands whose rows lie as said: rows of all of them.
D Rules::joined(ArrayRef<Part> parts) {
  D result;
  result.counts = true;
  bool isLost = false, pairs = false, isCombined = false, isWeighed = false;
  for (const auto &[d, dim] : parts) {
    result.counts &= d.isWhole() ? !d.learned : d.counts;
    isLost |= d.lost || (d.hasRows() && dim < 0);
    isCombined |= d.isCombined();
    isWeighed |= d.weighed || d.lost || (d.isCombined() && d.counts);
    result.addMixes(d.mixed);
    if (!d.hasRows() || dim < 0)
      continue;
    pairs |= result.hasRows() && result.dim != dim;
    if (!result.hasRows())
      result.dim = dim;
  }
  if (pairs)
    mixInto(result, "pairs every row of the batch with every other");
  if (!result.hasRows() && !result.isMixed()) {
    result.lost |= isLost;
    return isCombined && !result.lost ? combined(parts) : result;
  }
  result.weighed = result.hasRows() && isWeighed;
  // What all rows have in common comes back to each of them.
  for (const auto &[d, dim] : parts)
    if (result.hasRows() && d.isCombined() && !d.counts)
      result.addMixes(d.combiner);
  return result;
}

/// Operands that are combined alike stay so.
D Rules::kept(ArrayRef<Part> parts) {
  std::optional<D> first;
  for (const auto &[d, dim] : parts) {
    if (first && first->combination != d.combination)
      return lost(*first);
    if (!first)
      first = d;
  }
  return *first;
}

/// Behind a function that is not linear, no join makes the combination good.
D Rules::bent(ArrayRef<Part> parts) {
  D result;
  for (const auto &[d, dim] : parts)
    if (d.isCombined() && !d.counts)
      result.addMixes(d.combiner);
  result.counts = false;
  return lost(result);
}

D Rules::product(ArrayRef<Part> parts) {
  std::optional<D> only;
  for (const auto &[d, dim] : parts) {
    if (!d.isCombined())
      continue;
    if (only)
      return bent(parts);
    only = d;
  }
  if (only->combination != Combination::other)
    only->combination = Combination::scaled;
  return *only;
}

/// Of operands without rows, some of them combined, none mixed or lost.
D Rules::combined(ArrayRef<Part> parts) {
  if (isa<MulOp, DotGeneralOp>(op))
    return product(parts);
  if (isa<DivOp>(op)) {
    // Of two sums: a weighted mean, such as a loss over what counts.
    if (parts[0].d.isCombined() && parts[1].d.isCombined())
      return lost(parts[0].d);
    return parts[0].d.isCombined() ? product(parts) : bent(parts);
  }
  // Guards, such as a count of at least 1.
  if (isa<MaximumOp, MinimumOp, CompareOp, SelectOp, IsNanOp, IsInfOp, NotOp,
          AndOp, OrOp, XorOp>(op))
    return giveUp();
  if (isa<AddOp, SubOp>(op) && parts[0].d.isCombined() &&
      parts[0].d.combination == Combination::mean && parts[1].d.isWhole())
    return parts[0].d;
  if (isa<AddOp>(op) && parts[1].d.combination == Combination::mean &&
      parts[0].d.isWhole())
    return parts[1].d;
  if (isa<AddOp, SubOp, NegOp, ConvertOp, BroadcastOp, ConcatOp, DropoutOp,
          GatherOp, GatherElementsOp, GatherNdOp>(op))
    return kept(parts);
  return bent(parts);
}

/// Operands are aligned at the right, as NumPy broadcasts.
D Rules::elementwise() {
  ShapeRef result = shapeOf(op->getResult(0));
  llvm::SmallVector<Part> parts;
  for (Value operand : op->getOperands()) {
    D d = of(operand);
    ShapeRef shape = shapeOf(operand);
    if (shape.size() > result.size())
      return giveUp();
    auto lead = static_cast<int64_t>(result.size() - shape.size());
    if (d.hasRows() && shape[d.dim] != result[d.dim + lead])
      return giveUp(); // no elementwise op
    parts.push_back({d, d.hasRows() ? d.dim + lead : -1});
  }
  return joined(parts);
}

/// Of ops of one operand that leaves the dimension of the rows alone, or not.
D Rules::keptBy(bool isUntouched) {
  D d = of(op->getOperand(0));
  return d.hasRows() && !isUntouched ? lost(d) : d;
}

/// Of ops of one operand that work along one dimension.
D Rules::along(int64_t dim, llvm::StringLiteral what) {
  D d = of(op->getOperand(0));
  if (d.isCombined())
    return bent({{d, -1}});
  if (d.hasRows() && d.dim == dim)
    mixInto(d, what);
  return d;
}

D Rules::reduce(ReduceOp reduce) {
  D d = of(reduce.getOperand());
  const ReduceKind kind = reduce.getKind();
  if (d.isCombined()) {
    bool linear = kind == ReduceKind::sum || kind == ReduceKind::mean;
    return linear ? d : bent({{d, -1}});
  }
  if (!d.hasRows())
    return d;
  if (indexIn(reduce.getDims(), d.dim) >= 0)
    return combinedRows(d,
                        kind == ReduceKind::sum    ? Combination::sum
                        : kind == ReduceKind::mean ? Combination::mean
                                                   : Combination::other,
                        "reduces over the batch");
  if (!reduce.getKeepDims())
    d.dim -=
        llvm::count_if(reduce.getDims(), [&](int64_t r) { return r < d.dim; });
  return d;
}

D Rules::argReduce(ArgReduceOp reduce) {
  auto dim = static_cast<int64_t>(reduce.getDim());
  D d = along(dim, "picks from the batch");
  if (d.hasRows() && d.dim == dim)
    d.dim = -1;
  else if (d.hasRows() && d.dim > dim && !reduce.getKeepDims())
    --d.dim;
  return d;
}

D Rules::topK(TopKOp topK) {
  D d = along(topK.getDim(), "sorts the batch");
  if (d.dim == static_cast<int64_t>(topK.getDim()))
    d.dim = -1; // the rows are in another order
  return d;
}

D Rules::dot(DotGeneralOp dot) {
  auto placed = [&](const D &d, ShapeRef batch, ShapeRef contract,
                    int64_t first) -> int64_t {
    if (!d.hasRows() || indexIn(contract, d.dim) >= 0)
      return -1;
    if (int64_t k = indexIn(batch, d.dim); k >= 0)
      return k;
    int64_t at = first;
    for (int64_t other = 0; other < d.dim; ++other)
      at += indexIn(batch, other) < 0 && indexIn(contract, other) < 0;
    return at;
  };
  D l = of(dot.getLhs()), r = of(dot.getRhs());
  auto batch = static_cast<int64_t>(dot.getLhsBatch().size());
  auto lhsFree = static_cast<int64_t>(shapeOf(dot.getLhs()).size()) - batch -
                 static_cast<int64_t>(dot.getLhsContract().size());
  Part parts[] = {
      {l, placed(l, dot.getLhsBatch(), dot.getLhsContract(), batch)},
      {r, placed(r, dot.getRhsBatch(), dot.getRhsContract(), batch + lhsFree)}};
  const int64_t left = indexIn(dot.getLhsContract(), l.dim),
                right = indexIn(dot.getRhsContract(), r.dim);
  if (left < 0 && right < 0)
    return joined(parts);
  // A mask picks rows rather than mixing them.
  if (l.counts || r.counts)
    return joined(parts);
  const bool isSum = left == right || (left >= 0 && r.isWhole()) ||
                     (right >= 0 && l.isWhole());
  D both = joined(parts);
  if (isSum)
    return combinedRows(both, Combination::sum, "contracts the batch");
  if (both.hasRows() || both.isMixed())
    mixInto(both, "contracts the batch");
  return both;
}

D Rules::concat(ConcatOp concat) {
  llvm::SmallVector<Part> parts;
  for (Value input : concat.getInputs()) {
    Part part = inPlace(of(input));
    if (part.dim == static_cast<int64_t>(concat.getDim()))
      part.dim = -1;
    parts.push_back(part);
  }
  return joined(parts);
}

/// Rows at fixed positions are others in each microbatch.
D Rules::slice(SliceOp slice) {
  D d = of(slice.getOperand());
  if (d.hasRows() &&
      (slice.getStarts()[d.dim] != 0 || slice.getStrides()[d.dim] != 1 ||
       slice.getLimits()[d.dim] != shapeOf(slice.getOperand())[d.dim])) {
    if (picksTheSame(slice, of))
      return lost(d);
    return scattered(d, "takes rows at fixed positions");
  }
  return d;
}

D Rules::gather(GatherOp gather) {
  D from = of(gather.getOperand()), at = asPositions(of(gather.getIndices()));
  auto dim = static_cast<int64_t>(gather.getDim());
  auto spread = static_cast<int64_t>(shapeOf(gather.getIndices()).size()) - 1;
  if (from.hasRows() && (at.hasRows() || from.dim == dim))
    return giveUp();
  const int64_t rowsFrom = from.dim > dim ? from.dim + spread : from.dim;
  return joined({{from, rowsFrom}, {at, at.hasRows() ? dim + at.dim : -1}});
}

D Rules::gatherElements(GatherElementsOp gather) {
  D from = of(gather.getOperand()), at = asPositions(of(gather.getIndices()));
  if (from.hasRows() && from.dim == static_cast<int64_t>(gather.getDim()))
    return giveUp();
  return joined({inPlace(from), inPlace(at)});
}

D Rules::gatherNd(GatherNdOp gather) {
  D from = of(gather.getOperand()), at = asPositions(of(gather.getIndices()));
  auto rank = static_cast<int64_t>(shapeOf(gather.getIndices()).size());
  const bool isLost =
      (from.hasRows() &&
       from.dim >= static_cast<int64_t>(gather.getBatchDims())) ||
      (from.hasRows() && at.hasRows() && from.dim != at.dim) ||
      at.dim == rank - 1;
  return isLost ? giveUp() : joined({inPlace(from), inPlace(at)});
}

D Rules::scatterElements(ScatterElementsOp scatter) {
  llvm::SmallVector<Part> parts;
  for (Value operand : scatter.getOperands()) {
    D d = of(operand);
    if (operand == scatter.getIndices())
      d = asPositions(d);
    if (d.isCombined() || d.dim == static_cast<int64_t>(scatter.getDim()))
      return giveUp();
    parts.push_back(inPlace(d));
  }
  return joined(parts);
}

/// Where index vectors that are the same in every microbatch point at whole
/// slices, the rows of the slices lie where those of the operand do.
D Rules::scatterNd(ScatterNdOp scatter) {
  D to = of(scatter.getOperand()), updates = of(scatter.getUpdates());
  ShapeRef at = shapeOf(scatter.getIndices());
  const int64_t taken = at.back(), lead = static_cast<int64_t>(at.size()) - 1;
  const int64_t updatesTo =
      updates.dim < 0 ? -1 : updates.dim - lead + taken; // in the operand
  const bool isLost = !of(scatter.getIndices()).isWhole() || to.isCombined() ||
                      updates.isCombined() ||
                      (to.hasRows() && to.dim < taken) ||
                      (updates.hasRows() && updates.dim < lead);
  return isLost ? giveUp() : joined({inPlace(to), {updates, updatesTo}});
}

/// Convolutions and pools: dimensions up to `lastKept` are no window's.
D Rules::window(int64_t lastKept) {
  for (Value other : op->getOperands().drop_front())
    if (!of(other).isWhole())
      return giveUp();
  D d = of(op->getOperand(0));
  if (isa<MaxPoolOp, BatchNormOp>(op) && d.isCombined())
    return lost(d);
  d.counts &= isa<MaxPoolOp, AvgPoolOp>(op);
  if (d.dim <= lastKept || d.dim < 2)
    return keptBy(d.dim <= lastKept);
  ShapeRef from = shapeOf(op->getOperand(0)), to = shapeOf(op->getResult(0));
  const bool isWide = from[d.dim] != to[d.dim] ||
                      (isa<ConvolutionOp, ConvTransposeOp>(op) &&
                       shapeOf(op->getOperand(1))[d.dim] > 1) ||
                      isa<MaxPoolOp, AvgPoolOp>(op);
  return isWide ? scattered(d, "slides a window along the batch") : d;
}

D Rules::groupNorm(GroupNormOp norm) {
  for (Value other : op->getOperands().drop_front())
    if (!of(other).isWhole())
      return giveUp();
  D d = of(norm.getOperand());
  d.counts = false;
  if (d.isCombined())
    return bent({{d, -1}});
  // Rows beside the channels, as instance normalisation has it, are apart where
  // no group holds channels of two.
  const bool isApart =
      d.dim == 0 ||
      (d.dim == 1 && static_cast<int64_t>(norm.getGroups()) % rows == 0);
  if (d.hasRows() && !isApart)
    mixInto(d, "takes statistics over the batch");
  return d;
}

D Rules::attention(AttentionOp attention) {
  D q = of(attention.getQuery()), k = of(attention.getKey()),
    v = of(attention.getValue());
  const bool isGrouped =
      shapeOf(attention.getQuery())[1] != shapeOf(attention.getKey())[1];
  const bool attends = k.dim == 2 || v.dim == 2;
  auto placed = [&](const D &d, int64_t last) -> Part {
    bool isKnown = d.dim <= last && !(d.dim == 1 && isGrouped);
    return {d, isKnown ? d.dim : -1};
  };
  llvm::SmallVector<Part> parts{placed(q, 2), placed(k, 1), placed(v, 1)};
  if (Value mask = attention.getMask()) {
    D m = of(mask);
    auto lead = 4 - static_cast<int64_t>(shapeOf(mask).size());
    if (m.hasRows())
      m.dim += lead;
    parts.push_back(placed(m, 2));
  }
  D result = joined(parts);
  if (attends) {
    result.lost = false;
    mixInto(result, "attends over the batch");
  }
  return result;
}

D Rules::crossEntropy(CrossEntropyOp loss) {
  D logits = of(loss.getLogits()), labels = of(loss.getLabels());
  auto classes = static_cast<int64_t>(shapeOf(loss.getLogits()).size()) - 1;
  if (logits.isCombined())
    return bent({{logits, -1}});
  if (logits.hasRows() && logits.dim == classes)
    mixInto(logits, "normalises over the batch");
  if (!logits.isMixed() &&
      (logits.lost || labels.lost ||
       (logits.hasRows() && labels.hasRows() && logits.dim != labels.dim)))
    return giveUp();
  return combinedRows(logits, Combination::sum, "reduces over the batch");
}

/// Of ops of values that are the same in every microbatch.
bool Rules::isLearned() {
  if (auto load = dyn_cast<LoadWeightOp>(op)) {
    auto weight = SymbolTable::lookupNearestSymbolFrom<WeightOp>(
        load, load.getWeightAttr());
    return weight && weight.getKind() != WeightKind::constant;
  }
  return llvm::any_of(op->getOperands(),
                      [&](Value v) { return of(v).learned; });
}

D Rules::run() {
  if (llvm::all_of(op->getOperands(),
                   [&](Value v) { return of(v).isWhole(); })) {
    D whole;
    whole.learned = isLearned();
    return whole;
  }
  D first = of(op->getOperand(0));
  ShapeRef result = shapeOf(op->getResult(0)),
           operand = shapeOf(op->getOperand(0));
  return llvm::TypeSwitch<Operation *, D>(op)
      .Case([&](ReshapeOp) {
        D d = first;
        if (d.hasRows())
          d.dim = reshaped(operand, d.dim, result, rows);
        return first.hasRows() && d.dim < 0 ? lost(first) : d;
      })
      .Case([&](TransposeOp transpose) {
        D d = first;
        d.dim = indexIn(transpose.getPermutation(), d.dim);
        return d;
      })
      .Case([&](ReverseOp reverse) {
        D d = first;
        if (indexIn(reverse.getDims(), d.dim) >= 0)
          mixInto(d, "reverses the batch");
        return d;
      })
      .Case([&](SliceOp op) { return slice(op); })
      .Case<PadOp, ResizeOp>([&](auto) {
        return !first.hasRows() || operand[first.dim] == result[first.dim]
                   ? first
                   : scattered(first, "adds rows to the batch");
      })
      .Case([&](ConcatOp op) { return concat(op); })
      .Case([&](ReduceOp op) { return reduce(op); })
      .Case([&](ArgReduceOp op) { return argReduce(op); })
      .Case([&](TopKOp op) { return topK(op); })
      .Case([&](CumulativeOp cumulative) {
        if (first.isCombined() &&
            cumulative.getKind() == CumulativeKind::cumsum)
          return first;
        return along(cumulative.getDim(), "runs along the batch");
      })
      .Case<SoftmaxOp, LogSoftmaxOp>([&](auto softmax) {
        return along(softmax.getDim(), "normalises over the batch");
      })
      .Case<LayerNormOp, RmsNormOp>([&](auto norm) {
        D d = elementwise();
        if (first.hasRows() &&
            first.dim >= static_cast<int64_t>(norm.getAxis()))
          mixInto(d, "takes statistics over the batch");
        return d;
      })
      .Case([&](GroupNormOp op) { return groupNorm(op); })
      .Case<ConvolutionOp, ConvTransposeOp>([&](auto) { return window(0); })
      .Case<MaxPoolOp, AvgPoolOp, BatchNormOp>([&](auto) { return window(1); })
      .Case([&](DotGeneralOp op) { return dot(op); })
      .Case([&](AttentionOp op) { return attention(op); })
      .Case([&](CrossEntropyOp op) { return crossEntropy(op); })
      .Case([&](GatherOp op) { return gather(op); })
      .Case([&](GatherElementsOp op) { return gatherElements(op); })
      .Case([&](GatherNdOp op) { return gatherNd(op); })
      .Case([&](ScatterElementsOp op) { return scatterElements(op); })
      .Case([&](ScatterNdOp op) { return scatterNd(op); })
      .Case<CrossEntropyGradOp, MaxPoolGradOp, AvgPoolGradOp, ResizeGradOp>(
          [&](auto) { return giveUp(); })
      .Default([&](Operation *) { return elementwise(); });
}

} // namespace

int64_t rowsOf(GraphOp graph) {
  for (BlockArgument argument : graph.getBody().getArguments())
    if (ShapeRef shape = shapeOf(argument);
        !graph.isWhole(argument.getArgNumber()) && !shape.empty())
      return shape[0];
  return 0;
}

BatchDependence dependenceOf(Operation *op, int64_t rows,
                             llvm::function_ref<BatchDependence(Value)> of) {
  return Rules(op, rows, of).run();
}

} // namespace pipec::pipe
