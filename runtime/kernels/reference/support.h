// What every reference kernel is made with: kernels from lambdas, scratch
// layout, and the checks of an OpDesc. Op descriptions come from package files
// and are not trusted: a factory checks arity, element types, attributes and
// result types with these before it makes anything. Private to the kernels.
#ifndef PIPEC_RUNTIME_KERNELS_REFERENCE_SUPPORT_H
#define PIPEC_RUNTIME_KERNELS_REFERENCE_SUPPORT_H

#include "runtime/kernels/reference/types.h"

#include <initializer_list>

namespace pipec::reference {

using Shape = std::vector<int64_t>;

/// What one run gets.
struct Run {
  const std::vector<TensorView> &inputs, &outputs;
  void *scratchMemory;

  template <typename T> const T *in(size_t i) const {
    return static_cast<const T *>(inputs[i].data);
  }
  template <typename T> T *out(size_t i = 0) const {
    return static_cast<T *>(outputs[i].data);
  }
  template <typename T> T *scratch(size_t offset) const {
    return reinterpret_cast<T *>(static_cast<char *>(scratchMemory) + offset);
  }
};

inline bool nothingToWrite(const std::vector<TensorView> &outputs) {
  for (const TensorView &view : outputs)
    if (view.type.numElements() != 0)
      return false;
  return true;
}

template <typename F> class FnKernel final : public Kernel {
public:
  FnKernel(F fn, size_t scratch) : fn(std::move(fn)), scratch(scratch) {}
  Status run(const std::vector<TensorView> &inputs,
             const std::vector<TensorView> &outputs, void *memory) override {
    // Empty results need no work, and loops over their other dimensions, of any
    // size, must not run.
    if (nothingToWrite(outputs))
      return Status();
    if constexpr (std::is_void_v<decltype(fn(std::declval<const Run &>()))>) {
      fn(Run{inputs, outputs, memory});
      return Status();
    } else {
      return fn(Run{inputs, outputs, memory});
    }
  }
  size_t scratchBytes() const override { return scratch; }

private:
  F fn;
  size_t scratch;
};

/// Lays out temporary arrays, each 64-byte aligned.
class ScratchPlan {
public:
  /// Room for `count` T; returns its offset.
  template <typename T> size_t add(int64_t count) {
    const auto bytes = static_cast<unsigned __int128>(count) * sizeof(T);
    const size_t at = total;
    if (bytes > kLimit ||
        (total += (static_cast<size_t>(bytes) + 63) / 64 * 64) > kLimit) {
      overflow = true;
      total = 0;
    }
    return at;
  }
  bool fits() const { return !overflow; }
  size_t bytes() const { return total; }

private:
  static constexpr size_t kLimit = size_t(1) << 62;
  size_t total = 0;
  bool overflow = false;
};

/// A kernel whose run() is fn(const Run &), which returns nothing or a Status.
template <typename F>
KernelOr makeKernel(F fn, const ScratchPlan &scratch = {}) {
  if (!scratch.fits())
    return resourceExhausted("needs more than 2^62 bytes of temporary memory");
  return KernelOr(
      std::make_unique<FnKernel<F>>(std::move(fn), scratch.bytes()));
}

Status checkArity(const OpDesc &op, size_t inputs, size_t outputs = 1);
/// Result `index` has exactly this type.
Status checkResult(const OpDesc &op, const TensorType &expected,
                   size_t index = 0);
/// Inputs `a` and `b` have one element type.
Status checkSameDType(const OpDesc &op, size_t a, size_t b);
Status checkShape(const OpDesc &op, size_t input, const Shape &expected);

/// The attribute, or `fallback` (the dialect's default) where it is absent. An
/// error where it has another C++ type.
template <typename T>
StatusOr<T> attrOr(const OpDesc &op, const std::string &key, T fallback) {
  if (!op.has(key))
    return fallback;
  return op.get<T>(key);
}
/// A dimension number, 0 <= dim < rank.
StatusOr<int64_t> dimAttr(const OpDesc &op, const std::string &key,
                          int64_t rank);
/// Distinct, ascending dimension numbers below `rank`.
StatusOr<Shape> dimsAttr(const OpDesc &op, const std::string &key,
                         int64_t rank);
/// A list of `size` integers, each of absolute value at most 2^31 and at least
/// `least`.
StatusOr<Shape> listAttr(const OpDesc &op, const std::string &key, size_t size,
                         int64_t least);
/// The position of keyword attribute `key` in `keywords`.
StatusOr<size_t> keywordAttr(const OpDesc &op, const std::string &key,
                             std::initializer_list<std::string_view> keywords,
                             std::string_view fallback = {});

/// Input positions by operand name, for ops with optional operands. `all` lists
/// the op's operands in order, the first `required` of them always there.
/// Position -1: absent.
StatusOr<std::vector<int>>
operandPositions(const OpDesc &op, std::initializer_list<std::string_view> all,
                 size_t required);

int64_t numElements(const Shape &shape, size_t from, size_t to);
Shape rowMajorStrides(const Shape &shape);
/// NumPy's rule; an error where two dimensions differ and neither is 1.
StatusOr<Shape> broadcastShapes(const Shape &a, const Shape &b);
/// Strides of `from` read with the indices of `to` (aligned at the right, 0
/// where it stretches). Errors where it does not stretch to it.
StatusOr<Shape> broadcastStrides(const Shape &from, const Shape &to);

/// "gather of Gather node_embedding (embed, model.py:12)": how run-time errors
/// name their op.
std::string opText(const OpDesc &op);

} // namespace pipec::reference

#endif
