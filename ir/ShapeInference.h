// Helpers of result type inference: every check of shapes, dimensions and
// attribute lengths that more than one op makes.
//
// All arithmetic is safe against overflow. Tests: test/ir/*-verify.mlir.
#ifndef PIPEC_IR_SHAPEINFERENCE_H
#define PIPEC_IR_SHAPEINFERENCE_H

#include "ir/InferredTypes.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Value.h"

#include <optional>
#include <string>

namespace pipec::pipe {

using Shape = llvm::SmallVector<int64_t>;
using ShapeRef = llvm::ArrayRef<int64_t>;

/// "[2, 3]", for messages.
std::string listStr(ShapeRef values);
/// Product of the dimensions; nothing where it overflows or one is negative.
std::optional<int64_t> checkedElements(ShapeRef shape);
/// Whether the bytes fit 2^62, counting dimensions of 0 as 1 (PIPE-I1).
bool sizeFits(ShapeRef shape, mlir::Type elementType);
/// Shape or element type of a value that is a ranked tensor.
ShapeRef shapeOf(mlir::Value value);
mlir::Type elementTypeOf(mlir::Value value);

/// Strides, padding, dilations and window of a convolution or a pool.
struct Window {
  ShapeRef window;
  ShapeRef strides;
  ShapeRef padding; // low of each dimension, then high of each
  ShapeRef dilations;
  bool ceilMode = false;
};

/// One inference of one op: its checks report at the op's location, under the
/// op's name.
class Inference {
public:
  Inference(std::optional<mlir::Location> location, llvm::StringRef opName)
      : location(location), opName(opName) {}

  template <typename... Args> mlir::LogicalResult error(Args &&...args) const {
    return mlir::emitOptionalError(location, "'", opName, "' op ",
                                   std::forward<Args>(args)...);
  }

  /// 0 <= dim < rank.
  mlir::LogicalResult checkDim(int64_t dim, int64_t rank) const;
  /// Each in range, distinct and ascending.
  mlir::LogicalResult checkDims(ShapeRef dims, int64_t rank) const;
  mlir::LogicalResult checkRank(llvm::StringRef what, mlir::Value value,
                                int64_t low, int64_t high) const;
  /// `values` has one entry per `per`.
  mlir::LogicalResult checkLength(llvm::StringRef what, ShapeRef values,
                                  int64_t expected) const;
  /// Every entry of `values` is at least `least`.
  mlir::LogicalResult checkAtLeast(llvm::StringRef what, ShapeRef values,
                                   int64_t least) const;
  mlir::LogicalResult checkShape(llvm::StringRef what, mlir::Value value,
                                 ShapeRef expected) const;
  /// All values (null ones are skipped) have the element type of the first.
  mlir::LogicalResult
  checkSameElementType(llvm::ArrayRef<mlir::Value> values) const;
  /// Finite and at least 0.
  mlir::LogicalResult checkEpsilon(double epsilon) const;

  /// NumPy's broadcast of all shapes.
  mlir::FailureOr<Shape> broadcastShapes(llvm::ArrayRef<ShapeRef> shapes) const;
  /// Lengths and ranges of the attributes of a convolution or pool with
  /// `spatial` dimensions.
  mlir::LogicalResult checkWindow(const Window &window, int64_t spatial) const;
  /// Positions of a window over `size` elements in spatial dimension `d`.
  mlir::FailureOr<int64_t> windowOutputSize(const Window &window, int64_t d,
                                            int64_t size) const;

  /// Appends the result type, or reports a size beyond 2^62 bytes.
  mlir::LogicalResult finish(ShapeRef shape, mlir::Type elementType,
                             llvm::SmallVectorImpl<mlir::Type> &types) const;

private:
  std::optional<mlir::Location> location;
  llvm::StringRef opName;
};

} // namespace pipec::pipe

/// Opens the definition of OP::inferReturnTypes, with an Inference named
/// `infer`.
#define PIPE_INFER_RETURN_TYPES(OP)                                            \
  static mlir::LogicalResult infer##OP(                                        \
      const Inference &infer, OP::Adaptor adaptor,                             \
      mlir::SmallVectorImpl<mlir::Type> &types);                               \
  mlir::LogicalResult OP::inferReturnTypes(                                    \
      mlir::MLIRContext *, std::optional<mlir::Location> location,             \
      Adaptor adaptor, mlir::SmallVectorImpl<mlir::Type> &types) {             \
    return infer##OP(Inference(location, getOperationName()), adaptor, types); \
  }                                                                            \
  static mlir::LogicalResult infer##OP(                                        \
      const Inference &infer, OP::Adaptor adaptor,                             \
      mlir::SmallVectorImpl<mlir::Type> &types)

#endif // PIPEC_IR_SHAPEINFERENCE_H
