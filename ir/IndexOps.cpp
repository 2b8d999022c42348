// Gather, scatter and resize: inference and cost. Index values are checked at
// run time, their shapes here.
// Tests: test/ir/index-*.mlir.
#include "ir/IndexOps.h"
#include "ir/SharedChecks.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;
using namespace pipec::pipe;

#define GET_OP_CLASSES
#include "ir/IndexOps.cpp.inc"

void PipeDialect::registerIndexOps() {
  addOperations<
#define GET_OP_LIST
#include "ir/IndexOps.cpp.inc"
      >();
}

// ---- inference

PIPE_INFER_RETURN_TYPES(GatherOp) {
  Value operand = adaptor.getOperand();
  ShapeRef shape = shapeOf(operand);
  int64_t dim = adaptor.getDim();
  if (failed(infer.checkDim(dim, shape.size())))
    return failure();
  std::optional<uint64_t> padding = adaptor.getPaddingIndex();
  if (padding && *padding >= static_cast<uint64_t>(shape[dim]))
    return infer.error("padding_index ", static_cast<int64_t>(*padding),
                       " is out of range for dim ", dim, " of size ",
                       shape[dim]);
  Shape result(shape.take_front(dim));
  llvm::append_range(result, shapeOf(adaptor.getIndices()));
  llvm::append_range(result, shape.drop_front(dim + 1));
  return infer.finish(result, elementTypeOf(operand), types);
}

// Ranks agree, and outside `dim` the indices stay inside the operand.
static LogicalResult checkElementIndices(const Inference &infer, Value operand,
                                         Value indices, int64_t dim) {
  ShapeRef shape = shapeOf(operand), positions = shapeOf(indices);
  if (failed(infer.checkDim(dim, shape.size())))
    return failure();
  bool fits = shape.size() == positions.size();
  for (int64_t d = 0; fits && d < static_cast<int64_t>(shape.size()); ++d)
    fits = d == dim || positions[d] <= shape[d];
  if (!fits)
    return infer.error("indices must have the operand's rank and at most its "
                       "sizes outside dim ",
                       dim, ", got ", indices.getType(), " for ",
                       operand.getType());
  return success();
}

PIPE_INFER_RETURN_TYPES(GatherElementsOp) {
  Value operand = adaptor.getOperand(), indices = adaptor.getIndices();
  if (failed(checkElementIndices(infer, operand, indices, adaptor.getDim())))
    return failure();
  return infer.finish(shapeOf(indices), elementTypeOf(operand), types);
}

// How many leading dimensions after `batch` a position in the last dimension
// of the indices addresses.
static FailureOr<int64_t> inferPositionSize(const Inference &infer,
                                            Value operand, Value indices,
                                            int64_t batch) {
  ShapeRef positions = shapeOf(indices);
  if (positions.empty())
    return infer.error("indices must have at least one dimension");
  int64_t most = static_cast<int64_t>(shapeOf(operand).size()) - batch;
  int64_t k = positions.back();
  if (k < 1 || k > most)
    return infer.error("last dimension of the indices must be from 1 to ", most,
                       " for ", operand.getType(), ", got ", k);
  return k;
}

PIPE_INFER_RETURN_TYPES(GatherNdOp) {
  Value operand = adaptor.getOperand(), indices = adaptor.getIndices();
  ShapeRef shape = shapeOf(operand), positions = shapeOf(indices);
  int64_t batch = adaptor.getBatchDims();
  int64_t most = std::min<int64_t>(
      shape.size(), positions.empty() ? 0 : positions.size() - 1);
  if (batch < 0 || batch > most)
    return infer.error("batch_dims must be from 0 to ", most, ", got ", batch);
  if (shape.take_front(batch) != positions.take_front(batch))
    return infer.error("operand and indices must agree in the first ", batch,
                       " dimensions, got ", operand.getType(), " and ",
                       indices.getType());
  FailureOr<int64_t> k = inferPositionSize(infer, operand, indices, batch);
  if (failed(k))
    return failure();
  Shape result(positions.drop_back());
  llvm::append_range(result, shape.drop_front(batch + *k));
  return infer.finish(result, elementTypeOf(operand), types);
}

static LogicalResult checkUpdates(const Inference &infer, ScatterKind kind,
                                  Value operand, Value updates) {
  if (failed(infer.checkSameElementType({operand, updates})))
    return failure();
  bool arithmetic = kind == ScatterKind::add || kind == ScatterKind::mul;
  if (arithmetic && elementTypeOf(operand).isInteger(1))
    return infer.error("scatters bool by set, max or min only, got ",
                       stringifyScatterKind(kind));
  return success();
}

PIPE_INFER_RETURN_TYPES(ScatterElementsOp) {
  Value operand = adaptor.getOperand(), indices = adaptor.getIndices(),
        updates = adaptor.getUpdates();
  if (failed(checkUpdates(infer, adaptor.getKind(), operand, updates)) ||
      failed(checkElementIndices(infer, operand, indices, adaptor.getDim())) ||
      failed(infer.checkShape("updates", updates, shapeOf(indices))))
    return failure();
  types.push_back(operand.getType());
  return success();
}

PIPE_INFER_RETURN_TYPES(ScatterNdOp) {
  Value operand = adaptor.getOperand(), indices = adaptor.getIndices(),
        updates = adaptor.getUpdates();
  if (failed(checkUpdates(infer, adaptor.getKind(), operand, updates)))
    return failure();
  FailureOr<int64_t> k = inferPositionSize(infer, operand, indices, 0);
  if (failed(k))
    return failure();
  Shape expected(shapeOf(indices).drop_back());
  llvm::append_range(expected, shapeOf(operand).drop_front(*k));
  if (failed(infer.checkShape("updates", updates, expected)))
    return failure();
  types.push_back(operand.getType());
  return success();
}

LogicalResult pipec::pipe::checkResize(const Inference &infer, ShapeRef from,
                                       ShapeRef to,
                                       llvm::ArrayRef<double> scales,
                                       double cubicCoeff) {
  auto rank = static_cast<int64_t>(from.size());
  if (static_cast<int64_t>(scales.size()) != rank)
    return infer.error("scales must have ", rank, " entries, got ",
                       scales.size());
  for (int64_t d = 0; d < rank; ++d) {
    if (!std::isfinite(scales[d]) || scales[d] <= 0)
      return infer.error("scales must be finite and positive, got ", scales[d],
                         " for dim ", d);
    if (from[d] == 0 && to[d] != 0)
      return infer.error("has nothing to sample: dim ", d, " of ",
                         listStr(from), " is empty");
  }
  if (!std::isfinite(cubicCoeff))
    return infer.error("cubic_coeff must be finite");
  return success();
}

PIPE_INFER_RETURN_TYPES(ResizeOp) {
  Value operand = adaptor.getOperand();
  ShapeRef shape = shapeOf(operand), to = adaptor.getShape();
  if (failed(infer.checkLength("shape", to, shape.size())) ||
      failed(infer.checkAtLeast("shape", to, 0)) ||
      failed(checkResize(infer, shape, to, adaptor.getScales(),
                         adaptor.getCubicCoeff().convertToDouble())))
    return failure();
  return infer.finish(to, elementTypeOf(operand), types);
}

// ---- cost

int64_t GatherOp::getFlops() { return 0; }
int64_t GatherElementsOp::getFlops() { return 0; }
int64_t GatherNdOp::getFlops() { return 0; }
int64_t ScatterElementsOp::getFlops() {
  return getKind() == ScatterKind::set ? 0 : elementsOf(getUpdates().getType());
}
int64_t ScatterNdOp::getFlops() {
  return getKind() == ScatterKind::set ? 0 : elementsOf(getUpdates().getType());
}

int64_t ResizeOp::getFlops() {
  if (getMode() == ResizeMode::nearest)
    return 0;
  // A multiply-add for each of the neighbours that weigh in.
  int64_t taps = 1;
  for (auto [d, scale] : llvm::enumerate(getScales()))
    if (scale != 1 || getShape()[d] != getOperand().getType().getDimSize(d))
      taps = saturatingProduct({taps, getMode() == ResizeMode::linear ? 2 : 4});
  return saturatingProduct({2, taps, elementsOf(getType())});
}
