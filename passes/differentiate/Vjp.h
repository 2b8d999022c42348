// What a derivative rule works with: the gradients that come in, those that go
// out, and short forms of the ops that rules are made of.
//
// A rule may read the op's operands and results; differentiation decides
// whether they are kept or computed again. Every op that it builds carries the
// location of the op it belongs to (PIPE-I4).
#ifndef PIPEC_PASSES_DIFFERENTIATE_VJP_H
#define PIPEC_PASSES_DIFFERENTIATE_VJP_H

#include "ir/PipeOps.h"
#include "ir/ShapeInference.h"

#include "mlir/IR/Builders.h"

namespace pipec::pipe {

class Vjp {
public:
  /// `grads`: one per result of `op`, null where nothing depends on it.
  /// `needed`: one per operand. Both outlive this object.
  Vjp(mlir::OpBuilder &builder, mlir::Operation *op,
      llvm::ArrayRef<mlir::Value> grads, llvm::ArrayRef<bool> needed);

  /// Gradient of a result; null where nothing depends on it.
  mlir::Value grad(unsigned result = 0) const { return grads[result]; }
  /// Whether operand `i` needs a gradient.
  bool needs(unsigned i) const { return needed[i]; }
  /// The gradient of operand `i`, of its type; null or not set: zero.
  void set(unsigned i, mlir::Value gradient) { results[i] = gradient; }
  llvm::ArrayRef<mlir::Value> gradients() const { return results; }

  mlir::Operation *getOp() const { return op; }
  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::Location getLoc() const { return op->getLoc(); }

  // Elementwise; binary ones broadcast.
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value div(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, double b) { return mul(a, scalar(b, a)); }
  mlir::Value add(mlir::Value a, double b) { return add(a, scalar(b, a)); }
  template <typename OpT> mlir::Value unary(mlir::Value a) {
    return OpT::create(builder, getLoc(), a).getResult();
  }
  mlir::Value neg(mlir::Value a) { return unary<NegOp>(a); }
  /// The gradient `g` times, or over, a local derivative: 0 where `g` is 0,
  /// whatever the derivative. For every factor that depends on the data.
  mlir::Value chain(mlir::Value g, mlir::Value slope);
  mlir::Value chainDiv(mlir::Value g, mlir::Value slope);
  mlir::Value compare(CompareKind kind, mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);

  /// `value` as a scalar of the element type of `like`.
  mlir::Value scalar(double value, mlir::Value like);
  mlir::Value zeros(mlir::Type type);
  /// An i64 tensor of at most 16 elements, or one made of iota otherwise.
  mlir::Value iota(llvm::ArrayRef<int64_t> shape, int64_t dim);
  mlir::Value intScalar(int64_t value);

  mlir::Value reduce(ReduceKind kind, mlir::Value a,
                     llvm::ArrayRef<int64_t> dims, bool keep);
  /// Sums what a broadcast of `shape` to the value's shape stretched.
  mlir::Value sumTo(mlir::Value a, llvm::ArrayRef<int64_t> shape);
  mlir::Value reshape(mlir::Value a, llvm::ArrayRef<int64_t> shape);
  mlir::Value transpose(mlir::Value a, llvm::ArrayRef<int64_t> permutation);
  mlir::Value broadcast(mlir::Value a, llvm::ArrayRef<int64_t> shape);
  mlir::Value slice(mlir::Value a, int64_t dim, int64_t start, int64_t limit);
  /// Zeros around `a` along `dim`; negative counts crop.
  mlir::Value pad(mlir::Value a, int64_t dim, int64_t low, int64_t high);
  mlir::Value concat(llvm::ArrayRef<mlir::Value> parts, int64_t dim);
  mlir::Value convert(mlir::Value a, mlir::Type elementType);
  /// Zeros of `shape` to which slices of `updates` along `dim` are added at
  /// `indices`: updates.shape is shape[:dim] + indices.shape + shape[dim+1:].
  mlir::Value indexAdd(llvm::ArrayRef<int64_t> shape, int64_t dim,
                       mlir::Value indices, mlir::Value updates);

private:
  mlir::OpBuilder &builder;
  mlir::Operation *op;
  llvm::ArrayRef<mlir::Value> grads;
  llvm::ArrayRef<bool> needed;
  llvm::SmallVector<mlir::Value> results;
};

} // namespace pipec::pipe

#include "mlir/IR/OpDefinition.h"

#include "passes/differentiate/VjpInterface.h.inc"

#endif // PIPEC_PASSES_DIFFERENTIATE_VJP_H
