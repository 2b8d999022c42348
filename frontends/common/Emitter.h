// Makes `pipe` ops, and computes at once what is known at import.
//
// In: operands as Val handles, attributes. Out: new Val handles. An op whose
// operands are all known and whose result is small is evaluated by the
// reference kernels and leaves no op; constants become ops only where an op
// that stays reads them. The first error stays in `status()`; after it every
// call returns an empty Val, so that importers need not check each step. Tests:
// test/unit/frontends/ImportTest.cpp.
#ifndef PIPEC_FRONTENDS_COMMON_EMITTER_H
#define PIPEC_FRONTENDS_COMMON_EMITTER_H

#include "ir/OpDescs.h"
#include "pipec/tensor.h"

#include "mlir/IR/Builders.h"

#include <functional>

namespace pipec::frontend {

using Shape = std::vector<int64_t>;

/// A value of the graph: known elements, an MLIR value, or both; a cheap
/// handle. Empty: absent or after an error.
class Val {
public:
  struct State {
    TensorType type;
    mlir::Value ir;
    std::optional<Tensor> known;
    std::function<mlir::Value()> make; // makes `ir` at its first use
    std::function<std::optional<Tensor>()>
        load; // reads `known` at its first use
  };
  Val() = default;
  explicit Val(std::shared_ptr<State> state) : state(std::move(state)) {}

  explicit operator bool() const { return state != nullptr; }
  const TensorType &type() const;
  const Shape &shape() const { return type().shape; }
  DType dtype() const { return type().dtype; }
  int64_t rank() const { return type().rank(); }
  /// Size of dimension `d`; 1 where there is none, so that work after an error
  /// stays in bounds.
  int64_t dim(int64_t d) const { return d >= 0 && d < rank() ? shape()[d] : 1; }
  int64_t numElements() const { return type().numElements(); }
  /// The elements if they are known at import.
  const Tensor *known() const;

  State *get() const { return state.get(); }

private:
  std::shared_ptr<State> state;
};

/// Attributes of an op under construction.
class Attrs {
public:
  explicit Attrs(mlir::MLIRContext *context) : builder(context) {}
  Attrs &ints(llvm::StringRef name, const Shape &value);
  Attrs &doubles(llvm::StringRef name, const std::vector<double> &value);
  Attrs &i64(llvm::StringRef name, int64_t value);
  Attrs &f64(llvm::StringRef name, double value);
  Attrs &boolean(llvm::StringRef name, bool value);
  /// A unit attribute, where `value`.
  Attrs &flag(llvm::StringRef name, bool value);
  Attrs &set(llvm::StringRef name, mlir::Attribute value);
  /// Which optional operands are there (AttrSizedOperandSegments).
  Attrs &segments(const std::vector<int32_t> &sizes);
  mlir::DictionaryAttr dictionary() {
    return list.getDictionary(builder.getContext());
  }

private:
  mlir::Builder builder;
  mlir::NamedAttrList list;
};

class Emitter {
public:
  /// `known` results up to this many bytes are computed at import.
  static constexpr size_t kFoldLimit = 64 * 1024;

  Emitter(mlir::MLIRContext *context, mlir::Block *body);

  mlir::MLIRContext *context() { return builder.getContext(); }
  mlir::OpBuilder &at() { return builder; }
  void setLocation(mlir::Location where) { location = where; }
  mlir::Location currentLocation() const { return location; }

  bool ok() const { return error.ok(); }
  const Status &status() const { return error; }
  /// Keeps the first error.
  void fail(Status status);
  void failInvalid(const std::string &message) { fail(dataLoss(message)); }

  /// Results of the op "pipe.<name>", types inferred. On failure: `results`
  /// empty Vals.
  std::vector<Val> emit(const std::string &name,
                        const std::vector<Val> &operands,
                        mlir::DictionaryAttr attributes, size_t results = 1);
  Val emit1(const std::string &name, const std::vector<Val> &operands,
            Attrs attributes);
  mlir::Value materialize(const Val &value);
  Val fromIr(mlir::Value value);
  Val constant(const Tensor &tensor);

  // ---- by op; each does nothing where the op would not change its operand
  // ----
  Attrs attrs() { return Attrs(context()); }
  Val unary(const std::string &name, const Val &x) {
    return emit1(name, {x}, attrs());
  }
  Val binary(const std::string &name, const Val &a, const Val &b) {
    return emit1(name, {a, b}, attrs());
  }
  Val compare(pipe::CompareKind kind, const Val &a, const Val &b);
  Val select(const Val &condition, const Val &a, const Val &b) {
    return emit1("select", {condition, a, b}, attrs());
  }
  Val convert(const Val &x, DType dtype);
  Val reshape(const Val &x, const Shape &shape);
  Val transpose(const Val &x, const Shape &permutation);
  Val broadcast(const Val &x, const Shape &shape);
  Val slice(const Val &x, const Shape &starts, const Shape &limits,
            const Shape &strides);
  /// Elements [start, limit) of dimension `dim`.
  Val sliceDim(const Val &x, int64_t dim, int64_t start, int64_t limit);
  Val reverse(const Val &x, const Shape &dims);
  Val concat(const std::vector<Val> &parts, int64_t dim);
  Val pad(pipe::PadMode mode, const Val &x, const Val &value, const Shape &low,
          const Shape &high);
  Val reduce(pipe::ReduceKind kind, const Val &x, const Shape &dims,
             bool keepDims);
  Val gather(const Val &x, const Val &indices, int64_t dim);
  Val dot(const Val &lhs, const Val &rhs, const Shape &lhsBatch,
          const Shape &rhsBatch, const Shape &lhsContract,
          const Shape &rhsContract);
  Val iota(const TensorType &type, int64_t dim);
  Val remainder(pipe::RemainderKind kind, const Val &a, const Val &b);
  /// A number of `dtype`, rounded; a scalar unless `shape` is given.
  Val number(double value, DType dtype, const Shape &shape = {});
  Val ints(const Shape &values);
  Val add(const Val &a, const Val &b) { return binary("add", a, b); }
  Val sub(const Val &a, const Val &b) { return binary("sub", a, b); }
  Val mul(const Val &a, const Val &b) { return binary("mul", a, b); }
  Val div(const Val &a, const Val &b) { return binary("div", a, b); }
  /// With a number of x's type.
  Val addNumber(const Val &x, double value) {
    return add(x, number(value, x.dtype()));
  }
  Val mulNumber(const Val &x, double value) {
    return value == 1.0 ? x : mul(x, number(value, x.dtype()));
  }

private:
  std::optional<std::vector<Val>> fold(const std::string &name,
                                       const std::vector<Val> &operands,
                                       mlir::DictionaryAttr attributes,
                                       const std::vector<mlir::Type> &results);
  bool inferTypes(mlir::OperationName name, mlir::ValueRange operands,
                  mlir::DictionaryAttr attributes,
                  llvm::SmallVectorImpl<mlir::Type> &types);
  Val make(const TensorType &type);
  mlir::Operation *create(const std::string &name, mlir::ValueRange operands,
                          mlir::TypeRange types,
                          mlir::DictionaryAttr attributes);

  mlir::OpBuilder builder;
  mlir::Location location;
  Status error;
};

/// `axis` counted from the end where negative; `rank` when out of range.
int64_t normalizedAxis(int64_t axis, int64_t rank);
/// 0, 1, .. n-1.
Shape iotaShape(int64_t n);
/// Elements of an integer tensor as i64.
Shape integersOf(const Tensor &tensor);
/// Elements of a number tensor as double.
std::vector<double> numbersOf(const Tensor &tensor);

} // namespace pipec::frontend

#endif
