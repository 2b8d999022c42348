// See WholeRegion.h. A region is followed backwards through ops whose elements
// have one source: joins, moves and elementwise arithmetic.
#include "passes/partition/WholeRegion.h"

#include "ir/OpDescs.h"
#include "ir/ShapeInference.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace pipec::pipe {
namespace {

/// Elements [first, limit) of a dimension.
struct Range {
  int64_t first, limit;
};
using Region = llvm::SmallVector<Range>;

/// Ops between a part that is read and the join that made it.
constexpr int kMostSteps = 16;

class RegionWalk {
public:
  explicit RegionWalk(llvm::function_ref<BatchDependence(Value)> of) : of(of) {}

  bool isWhole(Value value, const Region &region, int steps = 0) const {
    if (of(value).isWhole())
      return true;
    Operation *op = value.getDefiningOp();
    if (!op || steps == kMostSteps)
      return false;
    auto isWholeIn = [&](Value operand, const Region &part) {
      return isWhole(operand, part, steps + 1);
    };
    return llvm::TypeSwitch<Operation *, bool>(op)
        .Case([&](ConcatOp concat) {
          return isWholeOfConcat(concat, region, isWholeIn);
        })
        .Case([&](SliceOp slice) {
          return isWholeIn(slice.getOperand(), within(slice, region));
        })
        .Case([&](TransposeOp transpose) {
          Region from(region.size());
          for (auto [d, at] : llvm::enumerate(transpose.getPermutation()))
            from[at] = region[d];
          return isWholeIn(transpose.getOperand(), from);
        })
        .Case<AddOp, SubOp, MulOp, DivOp, NegOp, ConvertOp, BroadcastOp,
              StopGradientOp>([&](Operation *elementwise) {
          return llvm::all_of(elementwise->getOperands(), [&](Value operand) {
            return isWholeIn(operand, aligned(operand, region));
          });
        })
        .Default(false);
  }

  /// `region` of the slice's result, as one of its operand.
  static Region within(SliceOp slice, const Region &region) {
    Region from;
    for (auto [range, first, stride] :
         llvm::zip(region, slice.getStarts(), slice.getStrides()))
      from.push_back({first + range.first * stride,
                      first + (range.limit - 1) * stride + 1});
    return from;
  }

private:
  llvm::function_ref<BatchDependence(Value)> of;

  template <typename IsWholeIn>
  static bool isWholeOfConcat(ConcatOp concat, const Region &region,
                              const IsWholeIn &isWholeIn) {
    const auto dim = static_cast<size_t>(concat.getDim());
    int64_t before = 0;
    for (Value input : concat.getInputs()) {
      const int64_t size = shapeOf(input)[dim];
      Region part = region;
      part[dim] = {std::max(region[dim].first - before, int64_t(0)),
                   std::min(region[dim].limit - before, size)};
      before += size;
      if (part[dim].first < part[dim].limit && !isWholeIn(input, part))
        return false;
    }
    return true;
  }

  /// By NumPy's rule.
  static Region aligned(Value operand, const Region &region) {
    ShapeRef shape = shapeOf(operand);
    Region from(region.end() - static_cast<int64_t>(shape.size()),
                region.end());
    for (auto [range, size] : llvm::zip(from, shape))
      if (size == 1)
        range = {0, 1};
    return from;
  }
};

Region all(Value value) {
  Region region;
  for (int64_t size : shapeOf(value))
    region.push_back({0, size});
  return region;
}

/// The position that a gather of one slice takes.
std::optional<int64_t> takenBy(GatherOp gather) {
  auto literal = gather.getIndices().getDefiningOp<ConstantOp>();
  auto value = literal ? dyn_cast<DenseIntElementsAttr>(literal.getValue())
                       : DenseIntElementsAttr();
  if (!value || value.getNumElements() != 1)
    return std::nullopt;
  const int64_t at = value.getValues<APInt>()[0].getSExtValue();
  const int64_t size = shapeOf(gather.getOperand())[gather.getDim()];
  return at < 0 ? at + size : at;
}

/// The part of `value` that its readers read.
Region readOf(Value value) {
  Region region = all(value);
  if (!value.hasOneUse())
    return region;
  Operation *reader = *value.user_begin();
  if (auto slice = dyn_cast<SliceOp>(reader))
    return RegionWalk::within(slice, readOf(slice.getResult()));
  auto gather = dyn_cast<GatherOp>(reader);
  if (gather && gather.getOperand() == value)
    if (std::optional<int64_t> at = takenBy(gather))
      region[gather.getDim()] = {*at, *at + 1};
  return region;
}

} // namespace

bool picksTheSame(SliceOp slice,
                  llvm::function_ref<BatchDependence(Value)> of) {
  const Region read = readOf(slice.getResult());
  return llvm::all_of(read, [](Range r) { return r.first < r.limit; }) &&
         RegionWalk(of).isWhole(slice.getOperand(),
                                RegionWalk::within(slice, read));
}

} // namespace pipec::pipe
