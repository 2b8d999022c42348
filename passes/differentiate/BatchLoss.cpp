// What a model's own loss is made of: see BatchLoss.h.
//
// Every value on the way to the loss is one of four things: the same in every
// microbatch; rows; a sum over rows ("additive": the whole batch's is the sum
// of the microbatches'); or unknown. Nothing is guessed: an op that no rule
// covers makes unknown of what depends on rows.
// Tests: test/unit/passes/differentiate/BatchLossTest.cpp,
// test/e2e/cli/own-loss.test.
#include "passes/differentiate/BatchLoss.h"

#include "ir/OpDescs.h"
#include "ir/ShapeInference.h"
#include "passes/differentiate/ConstantRows.h"
#include "passes/differentiate/NodeOps.h"
#include "passes/differentiate/Passes.h"
#include "passes/partition/BatchDependence.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace pipec::pipe {
namespace {

using Kind = BatchLossStep::Kind;

/// Most bytes of a constant whose numbers are looked at.
constexpr size_t kMostBytes = size_t(64) << 20;

constexpr const char *kByParameters =
    "divides by a sum over the batch that parameters are in";
constexpr const char *kBySize =
    "follows from the number of rows in a way that is not followed";

/// What a value has of the batch.
struct Part {
  enum class Is { whole, rows, additive, unknown };
  Is is = Is::whole;
  int64_t dim = -1;       // of rows
  bool isOfData = true;   // no parameter, and no random number, is in it
  bool hasTotal = false;  // it reads a total
  bool isMean = false;    // additive, and divided by how much there is of it
  bool isExplicit = true; // of whole: no number that may be a size
  /// Of rows: made of constants alone, so that its numbers are known: those of
  /// row 0, and what each row adds to those of the row before it. Positions, if
  /// that is not 0.
  std::shared_ptr<const ConstantRows> numbers;
  Operation *lostAt = nullptr;
  const char *lostBy = "";

  bool isConstant() const { return is == Is::whole || numbers; }
  bool isPositions() const { return numbers && !numbers->isAlike(); }
};
using Is = Part::Is;

class LossReader {
public:
  LossReader(GraphOp graph, GraphOp whole, bool takesTotals)
      : graph(graph), takesTotals(takesTotals), rows(rowsOf(graph)), ops(graph),
        tensors(ops.weights(), kMostBytes) {
    if (!whole)
      return;
    others.emplace(whole);
    otherTensors.emplace(others->weights(), kMostBytes);
    otherRows = rowsOf(whole);
  }

  BatchLoss run(unsigned output) {
    Value loss = graph.getOutput().getOperand(output);
    if (rows < 2)
      return lost(nullptr, "has too few rows to tell");
    for (BlockArgument argument : graph.getBody().getArguments())
      known[argument] = ofInput(argument);
    for (Operation *op : waysTo(loss)) {
      Part part = visit(op);
      if (others && part.is != Is::unknown && !isSameThere(op, part))
        part = unknown(op, "is another operation at other sizes of a "
                           "microbatch");
      for (Value value : op->getResults())
        known[value] = part;
    }
    Part end = known.lookup(loss);
    if (end.is == Is::unknown) {
      BatchLoss none = lost(end.lostAt, end.lostBy);
      if (auto div = dyn_cast_or_null<DivOp>(end.lostAt);
          div && end.lostBy == kByParameters)
        none.lostBy += remedyFor(div.getRhs());
      return none;
    }
    if (end.is == Is::rows)
      return lost(loss.getDefiningOp(), "has a value for each row");
    if (end.is == Is::whole)
      found.steps.push_back({Kind::loss, {}, 0});
    found.isRowMean =
        (end.is == Is::whole || end.isMean) &&
        llvm::none_of(found.steps, [](const BatchLossStep &step) {
          return step.kind == Kind::total || step.kind == Kind::meanTotal;
        });
    found.isSum = end.is == Is::additive && found.steps.empty();
    return std::move(found);
  }

private:
  GraphOp graph;
  const bool takesTotals;
  const int64_t rows;
  int64_t otherRows = 0;
  NodeOps ops;
  std::optional<NodeOps> others;
  llvm::DenseMap<Value, Part> known;
  Constants tensors;
  std::optional<Constants> otherTensors;
  BatchLoss found;

  static BatchLoss lost(Operation *op, const char *why) {
    BatchLoss loss;
    loss.lostAt = op;
    loss.lostBy = why;
    return loss;
  }
  static Part unknown(Operation *op, const char *why) {
    Part part;
    part.is = Is::unknown;
    part.lostAt = op;
    part.lostBy = why;
    return part;
  }

  /// The ops that `value` is made by, in their order.
  llvm::SmallVector<Operation *> waysTo(Value value) {
    llvm::DenseSet<Operation *> needed;
    llvm::SmallVector<Operation *> open, result;
    auto need = [&](Value v) {
      if (Operation *op = v.getDefiningOp(); op && needed.insert(op).second)
        open.push_back(op);
    };
    need(value);
    while (!open.empty())
      for (Value operand : open.pop_back_val()->getOperands())
        need(operand);
    for (Operation &op : graph.getBody().front())
      if (needed.contains(&op))
        result.push_back(&op);
    return result;
  }

  /// Where one parameter alone is in a divisor: class weights, most likely,
  /// which a file of the older exporter does not tell from parameters.
  std::string remedyFor(Value divisor) {
    std::string name;
    for (Operation *op : waysTo(divisor))
      if (auto load = dyn_cast<LoadWeightOp>(op); load && isParameter(load)) {
        if (!name.empty() && name != load.getWeight())
          return "";
        name = load.getWeight().str();
      }
    return name.empty() ? ""
                        : " (" + name + "; --freeze " + name +
                              " where that is not to be trained)";
  }

  Part ofInput(BlockArgument argument) {
    Part part;
    ShapeRef shape = shapeOf(argument);
    if (graph.isWhole(argument.getArgNumber()) || shape.empty())
      return part;
    if (shape[0] % rows)
      return unknown(nullptr, "reads an input whose rows are not the batch's");
    part.is = Is::rows;
    part.dim = 0;
    return part;
  }

  void step(Kind kind, Operation *op, unsigned operand = 0) {
    found.steps.push_back({kind, ops.keyOf(op), operand});
  }

  Part visit(Operation *op) {
    bool isOfData = !isa<DropoutOp, BatchNormOp>(op), hasTotal = false,
         isExplicit = true, hasRows = false, hasSums = false;
    for (Value operand : op->getOperands()) {
      Part part = known.lookup(operand);
      if (part.is == Is::unknown)
        return part;
      isOfData &= part.isOfData;
      hasTotal |= part.hasTotal;
      isExplicit &= part.isExplicit;
      hasRows |= part.is == Is::rows;
      hasSums |= part.is == Is::additive;
    }
    if (!takesTotals && hasTotal)
      return bySize(op);
    const bool isConstant = llvm::all_of(op->getOperands(), [&](Value operand) {
      return known.lookup(operand).isConstant();
    });
    Part result = hasSums                ? sums(op)
                  : isConstant && others ? same(op)
                  : hasRows              ? rowsAgain(op)
                                         : same(op);
    if (hasRows && result.is == Is::unknown && isConstant && others)
      result = rowsAgain(op); // numbers that are not known
    if (hasTotal && result.numbers)
      return unknown(op, "has a number for each row that follows from the "
                         "number of rows");
    if (result.is == Is::unknown)
      return result;
    if (auto load = dyn_cast<LoadWeightOp>(op))
      isOfData = !isParameter(load);
    result.isOfData = isOfData && result.isOfData;
    result.hasTotal |= hasTotal;
    result.isExplicit &= isExplicit;
    return result.is == Is::additive && !hasSums ? summed(op, result) : result;
  }

  bool isParameter(LoadWeightOp load) {
    auto weight = ops.weights().lookup<WeightOp>(load.getWeight());
    return !weight || (weight.getKind() == WeightKind::parameter &&
                       !weight->hasAttr(kFrozenAttr));
  }

  /// A sum or mean over rows, new here. One of data alone is a count, and is
  /// made before all else; a count that needs another count is none.
  Part summed(Operation *op, Part part) {
    const bool isTotal = takesTotals && part.isOfData && !part.hasTotal;
    Type element = elementTypeOf(op->getResult(0));
    if (isTotal &&
        element.getIntOrFloatBitWidth() < (isa<FloatType>(element) ? 32 : 8))
      return unknown(op, "counts the batch in a type that is not added up");
    if (isTotal) {
      step(part.isMean ? Kind::meanTotal : Kind::total, op);
      Part total;
      total.hasTotal = true;
      return total;
    }
    part.isOfData = false;
    if (part.isMean)
      step(Kind::share, op);
    return part;
  }

  Operation *otherOf(Operation *op) {
    return others ? others->find(ops.keyOf(op)) : nullptr;
  }

  /// Whether the op at the other size reads the same operands and makes as much
  /// of each row. `x[:2]` does not: it is all rows of a microbatch of two.
  bool isSameThere(Operation *op, const Part &part) {
    Operation *other = otherOf(op);
    if (!other || op->getNumOperands() != other->getNumOperands() ||
        op->getNumResults() != other->getNumResults())
      return false;
    for (auto [here, there] :
         llvm::zip(op->getOperands(), other->getOperands())) {
      auto a = dyn_cast<BlockArgument>(here),
           b = dyn_cast<BlockArgument>(there);
      if (a || b ? !a || !b || a.getArgNumber() != b.getArgNumber()
                 : otherOf(here.getDefiningOp()) != there.getDefiningOp())
        return false;
    }
    for (auto [here, there] : llvm::zip(op->getResults(), other->getResults()))
      if (!isSameShape(shapeOf(here), shapeOf(there), part))
        return false;
    auto reduce = dyn_cast<ReduceOp>(op);
    return !reduce || reduce.getDims() == cast<ReduceOp>(other).getDims();
  }

  bool isSameShape(ShapeRef here, ShapeRef there, const Part &part) const {
    if (here.size() != there.size())
      return false;
    for (size_t d = 0; d < here.size(); ++d)
      if (part.is == Is::rows && static_cast<int64_t>(d) == part.dim
              ? here[d] / rows * otherRows != there[d]
              : here[d] != there[d])
        return false;
    return true;
  }

  /// Of ops whose operands are the same in every microbatch.
  Part same(Operation *op) {
    Part part;
    if (!others) {
      part.isExplicit = !isa<ConstantOp>(op);
      return part;
    }
    Operation *other = otherOf(op);
    if (!other)
      return unknown(op, "is there at some sizes of a microbatch alone");
    if (op->getResultTypes() != other->getResultTypes())
      return spread(op, other);
    auto load = dyn_cast<LoadWeightOp>(op),
         otherLoad = dyn_cast<LoadWeightOp>(other);
    const bool isSameWeight =
        load && otherLoad && load.getWeight() == otherLoad.getWeight();
    if (isa<ConstantOp, LoadWeightOp>(op) && !isSameWeight &&
        !isSameConstant(op, other))
      return size(op, other);
    return part;
  }

  bool isSameConstant(Operation *here, Operation *there) const {
    std::optional<Tensor> x = constantTensor(here, ops.weights()),
                          y = constantTensor(there, others->weights());
    return x && y && x->type() == y->type() &&
           !std::memcmp(x->data(), y->data(), x->byteSize());
  }

  /// A number that follows from the number of rows: the whole batch's is the
  /// sum where it is a multiple of it.
  Part size(Operation *op, Operation *other) {
    std::optional<double> here = numberOf(op), there = numberOf(other);
    if (!here || !there || *here == 0 ||
        *here * static_cast<double>(otherRows) !=
            *there * static_cast<double>(rows))
      return unknown(op, kBySize);
    if (takesTotals)
      step(Kind::total, op);
    Part part;
    part.hasTotal = true;
    return part;
  }

  /// Of ops that read the number of rows, and take no totals: a sum over it is
  /// a mean.
  Part bySize(Operation *op) {
    if (isa<ConvertOp, ReshapeOp>(op))
      return known.lookup(op->getOperand(0));
    Part sum = known.lookup(op->getOperand(0));
    if (!isa<DivOp>(op) || sum.is != Is::additive || sum.isMean)
      return unknown(op, kBySize);
    step(Kind::share, op);
    sum.isMean = true;
    return sum;
  }

  /// A value with an entry for each row, the same for all rows.
  Part spread(Operation *op, Operation *other) {
    ShapeRef here = shapeOf(op->getResult(0)),
             there = shapeOf(other->getResult(0));
    int64_t dim = -1;
    for (size_t d = 0; d < here.size() && here.size() == there.size(); ++d)
      if (here[d] != there[d]) {
        if (dim >= 0 || here[d] % rows ||
            here[d] / rows * otherRows != there[d])
          return unknown(op, "has a shape that follows from the number of "
                             "rows in a way that is not followed");
        dim = static_cast<int64_t>(d);
      }
    Part part;
    part.is = Is::rows;
    part.dim = dim;
    const bool isOne = dim >= 0 && op->getNumResults() == 1;
    if (isOne)
      part.numbers = numbersOf(op->getResult(0), other->getResult(0), dim);
    if (!isOne || !(part.numbers || isAlikeAlong(op, other, dim)))
      return unknown(op, "depends on the positions of rows in the batch");
    return part;
  }

  /// The numbers of a constant at both sizes; null where they do not follow
  /// from those of row 0.
  std::shared_ptr<const ConstantRows> numbersOf(Value here, Value there,
                                                int64_t dim) {
    std::optional<Tensor> a = tensors.of(here), b = otherTensors->of(there);
    auto x = a ? ConstantRows::of(*a, dim, rows) : std::nullopt,
         y = b ? ConstantRows::of(*b, dim, otherRows) : std::nullopt;
    if (!x || !y || !(*x == *y))
      return nullptr;
    return std::make_shared<const ConstantRows>(std::move(*x));
  }

  static bool isAlikeAlong(Operation *op, Operation *other, int64_t dim) {
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      auto a = dyn_cast<DenseElementsAttr>(constant.getValue()),
           b = dyn_cast<DenseElementsAttr>(cast<ConstantOp>(other).getValue());
      return a && b && a.isSplat() && b.isSplat() &&
             a.getSplatValue<Attribute>() == b.getSplatValue<Attribute>();
    }
    if (auto iota = dyn_cast<IotaOp>(op))
      return static_cast<int64_t>(iota.getDim()) != dim;
    if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      ShapeRef from = shapeOf(broadcast.getOperand());
      const auto lead = static_cast<int64_t>(
          shapeOf(broadcast.getResult()).size() - from.size());
      return dim < lead || from[dim - lead] == 1;
    }
    return false;
  }

  /// Of ops that read rows and what is the same in every microbatch.
  Part rowsAgain(Operation *op) {
    for (Value operand : op->getOperands())
      if (known.lookup(operand).isPositions())
        return byPositions(op);
    auto of = [&](Value value) {
      BatchDependence d;
      d.dim = known.lookup(value).dim;
      d.learned = !known.lookup(value).isOfData;
      return d;
    };
    if (isa<LayerNormOp, RmsNormOp, GroupNormOp>(op) &&
        known.lookup(op->getOperand(0)).is != Is::rows)
      return unknown(op, "normalises by what has rows");
    BatchDependence d = dependenceOf(op, rows, of);
    if (d.lost || d.weighed || d.isMixed())
      return unknown(op, "makes of the rows what is not followed");
    if (!others && meetsPositions(op))
      return unknown(op, "may hold a number for each row of the batch");
    Part part;
    if (d.hasRows()) {
      part.is = Is::rows;
      part.dim = d.dim;
      return part;
    }
    using Combination = BatchDependence::Combination;
    if (d.combination != Combination::sum && d.combination != Combination::mean)
      return unknown(op, "combines the rows to what is neither a sum nor a "
                         "mean");
    part.is = Is::additive;
    part.isMean = d.combination == Combination::mean;
    return part;
  }

  /// Of ops that read positions, which may be those of the rows themselves:
  /// each row then reads, or writes, itself alone.
  Part byPositions(Operation *op) {
    Part part;
    part.is = Is::rows;
    Part from = known.lookup(op->getOperand(0));
    const Part at =
        op->getNumOperands() > 1 ? known.lookup(op->getOperand(1)) : Part();
    const bool isOwn =
        from.is == Is::rows && !from.isPositions() && at.isPositions();
    const int64_t each =
        isOwn ? shapeOf(op->getOperand(0))[from.dim] / rows : 0;
    if (auto gather = dyn_cast<GatherOp>(op);
        gather && isOwn && from.dim == static_cast<int64_t>(gather.getDim()) &&
        at.numbers->pointsIntoRow(each)) {
      part.dim = from.dim + at.dim;
      return part;
    }
    auto last = [&] {
      return static_cast<int64_t>(shapeOf(op->getOperand(1)).size()) - 1;
    };
    if (auto gather = dyn_cast<GatherNdOp>(op);
        gather && isOwn && gather.getBatchDims() == 0 && at.dim < last() &&
        at.numbers->pointsIntoRow(each, from.dim)) {
      part.dim = at.dim;
      return part;
    }
    if (isa<ScatterNdOp>(op) && isOwn && at.dim < last() &&
        at.numbers->pointsIntoRow(each, from.dim))
      if (Part updates = known.lookup(op->getOperand(2));
          updates.is == Is::rows && !updates.isPositions() &&
          updates.dim == at.dim) {
        part.dim = from.dim;
        return part;
      }
    return unknown(op, "depends on the positions of rows in the batch");
  }

  /// Of a file of one size: an operand that is the same in every microbatch and
  /// may have an entry for each row.
  bool meetsPositions(Operation *op) {
    int64_t extent = 0;
    for (Value operand : op->getOperands())
      if (Part part = known.lookup(operand); part.is == Is::rows)
        extent = shapeOf(operand)[part.dim];
    if (extent < 2 || isa<GatherOp, ConvolutionOp>(op))
      return false;
    if (auto dot = dyn_cast<DotGeneralOp>(op)) {
      // The right operand's free dimensions meet none of the left's.
      Part left = known.lookup(dot.getLhs());
      return !(left.is == Is::rows && dot.getLhsBatch().empty() &&
               !llvm::is_contained(dot.getLhsContract(), left.dim)) &&
             (left.is != Is::rows || known.lookup(dot.getRhs()).is != Is::rows);
    }
    for (Value operand : op->getOperands()) {
      if (known.lookup(operand).is != Is::whole)
        continue;
      ShapeRef shape = shapeOf(operand), result = shapeOf(op->getResult(0));
      for (size_t d = 0; d < shape.size(); ++d)
        if (shape[shape.size() - 1 - d] == extent &&
            (result.size() <= d || result[result.size() - 1 - d] == extent) &&
            isRowDim(op, static_cast<int64_t>(d)))
          return true;
    }
    return false;
  }

  /// Whether the rows of an operand lie `back` dimensions from the last one;
  /// for ops that do not align their operands so, always.
  bool isRowDim(Operation *op, int64_t back) {
    if (isa<AttentionOp, GatherElementsOp, GatherNdOp, ScatterElementsOp,
            ScatterNdOp, ConcatOp>(op))
      return true;
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      Part part = known.lookup(operand);
      return part.is == Is::rows &&
             static_cast<int64_t>(shapeOf(operand).size()) - 1 - part.dim ==
                 back;
    });
  }

  /// Of ops that read sums over rows. Sums of data alone are counts and no sums
  /// any more.
  Part sums(Operation *op) {
    for (Value operand : op->getOperands())
      if (known.lookup(operand).is == Is::rows)
        return unknown(op, "brings a sum over the batch back to its rows");
    return llvm::TypeSwitch<Operation *, Part>(op)
        .Case<AddOp, SubOp>([&](auto) { return sumOf(op, 0); })
        .Case<ConcatOp>([&](auto) { return sumOf(op, 0); })
        .Case<SelectOp>([&](auto) {
          return known.lookup(op->getOperand(0)).is == Is::whole
                     ? sumOf(op, 1)
                     : notLinear(op);
        })
        .Case<MulOp, DotGeneralOp>([&](auto) { return scaled(op, true); })
        .Case<DivOp>([&](auto) { return scaled(op, false); })
        .Case<NegOp, ReshapeOp, TransposeOp, BroadcastOp, SliceOp, ReverseOp>(
            [&](auto) { return known.lookup(op->getOperand(0)); })
        .Case<ConvertOp>([&](ConvertOp convert) {
          return isa<FloatType>(elementTypeOf(convert.getResult())) ||
                         !isa<FloatType>(elementTypeOf(convert.getOperand()))
                     ? known.lookup(convert.getOperand())
                     : notLinear(op);
        })
        .Case<ReduceOp>([&](ReduceOp reduce) {
          return reduce.getKind() == ReduceKind::sum ||
                         reduce.getKind() == ReduceKind::mean
                     ? known.lookup(reduce.getOperand())
                     : notLinear(op);
        })
        .Case<GatherOp>([&](GatherOp gather) {
          return known.lookup(gather.getIndices()).is == Is::whole
                     ? known.lookup(gather.getOperand())
                     : notLinear(op);
        })
        .Default([&](Operation *) { return notLinear(op); });
  }

  static Part notLinear(Operation *op) {
    return unknown(op, "makes of a sum over the batch what is no sum over it");
  }

  /// Each microbatch adds its share of what is the same in all of them.
  Part sumOf(Operation *op, unsigned first) {
    Part result;
    result.is = Is::additive;
    result.isMean = true;
    for (unsigned i = first; i < op->getNumOperands(); ++i) {
      Part part = known.lookup(op->getOperand(i));
      if (part.is == Is::whole)
        step(Kind::operandShare, op, i);
      else
        result.isMean &= part.isMean;
    }
    return result;
  }

  /// A sum times, or over, what is the same in all microbatches.
  Part scaled(Operation *op, bool commutes) {
    Part left = known.lookup(op->getOperand(0)),
         right = known.lookup(op->getOperand(1));
    if (commutes && left.is == Is::whole)
      std::swap(left, right);
    if (left.is != Is::additive || right.is != Is::whole)
      return right.is == Is::additive && left.is == Is::whole
                 ? notLinear(op)
                 : unknown(op, commutes ? "multiplies two sums over the batch"
                               : takesTotals
                                   ? kByParameters
                                   : "divides by a sum over the batch");
    // Of a file of one size, the number may stand for how many there are.
    if (!right.isExplicit && !left.isMean && !right.hasTotal)
      return unknown(op, "scales a sum over the batch by a number that may be "
                         "the size of the batch");
    left.isMean |= right.hasTotal;
    return left;
  }
};

} // namespace

NodeOps::NodeOps(GraphOp graph) : table(graph->getParentOfType<ModuleOp>()) {
  std::map<std::pair<int64_t, std::string>, int64_t> counts;
  for (Operation &op : graph.getBody().front().without_terminator()) {
    // A constant is a literal or lies in the pool, by its size.
    const bool isConstant = isa<ConstantOp, LoadWeightOp>(op) &&
                            constantTensor(&op, table).has_value();
    NodeOp key{originOf(op.getLoc()).index,
               isConstant ? "constant" : op.getName().getStringRef().str(), 0};
    key.ordinal = counts[{key.index, key.name}]++;
    ops[key] = &op;
    keys[&op] = key;
  }
}

Operation *NodeOps::find(const NodeOp &key) const {
  auto at = ops.find(key);
  return at == ops.end() ? nullptr : at->second;
}

const NodeOp &NodeOps::keyOf(Operation *op) const {
  return keys.find(op)->second;
}

std::optional<double> numberOf(Operation *op) {
  auto constant = dyn_cast<ConstantOp>(op);
  auto value = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                        : DenseElementsAttr();
  if (!value || value.getNumElements() != 1)
    return std::nullopt;
  Attribute element = *value.value_begin<Attribute>();
  if (auto number = dyn_cast<FloatAttr>(element))
    return number.getValueAsDouble();
  if (auto number = dyn_cast<IntegerAttr>(element))
    if (!number.getType().isInteger(1))
      return static_cast<double>(number.getValue().getSExtValue());
  return std::nullopt;
}

BatchLoss findBatchLoss(GraphOp graph, unsigned output, GraphOp whole,
                        bool takesTotals) {
  return LossReader(graph, whole, takesTotals).run(output);
}

} // namespace pipec::pipe
