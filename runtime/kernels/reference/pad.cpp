// pad: adds elements before and after each dimension. In: a tensor and a
// scalar. Out: the operand amid the scalar, its mirror image, its edge or
// itself again. Tests: test/unit/kernels/PadTest.cpp.
#include "runtime/kernels/reference/families.h"
#include "runtime/kernels/reference/strided.h"

#include <algorithm>
#include <cstring>

namespace pipec::reference {
namespace {

enum Mode : size_t { Constant, Reflect, Edge, Wrap };

// The element of 0 .. n - 1 that stands at position i, which may be outside. n
// >= 1.
int64_t sourceIndex(Mode mode, int64_t i, int64_t n) {
  if (i >= 0 && i < n)
    return i;
  if (mode == Edge)
    return i < 0 ? 0 : n - 1;
  const int64_t period = mode == Wrap ? n : std::max<int64_t>(1, 2 * (n - 1));
  const int64_t r = (i % period + period) % period;
  return r < n ? r : period - r;
}

template <typename U>
KernelOr makeConstant(const OpDesc &op, const Shape &low) {
  const TensorType &in = op.inputs[0], &out = op.outputs[0];
  Shape sizes;
  const Shape inStrides = rowMajorStrides(in.shape),
              outStrides = rowMajorStrides(out.shape);
  int64_t inOffset = 0, outOffset = 0;
  for (size_t d = 0; d < low.size(); ++d) {
    const int64_t first = std::max<int64_t>(0, -low[d]);
    const int64_t to = std::max<int64_t>(0, low[d]);
    sizes.push_back(
        std::max<int64_t>(0, std::min(in.shape[d] - first, out.shape[d] - to)));
    if (sizes[d] == 0)
      continue;
    inOffset += first * inStrides[d];
    outOffset += to * outStrides[d];
  }
  const bool nothing = numElements(sizes, 0, sizes.size()) == 0;
  StridedCopy copy(sizes, outStrides, inStrides, sizeof(U));
  const int64_t total = out.numElements();
  return makeKernel([=](const Run &run) mutable {
    std::fill_n(run.out<U>(), total, *run.in<U>(1));
    if (!nothing)
      copy.run(run.out<U>() + outOffset, run.in<U>(0) + inOffset);
  });
}

template <typename U>
KernelOr makeFromOperand(const OpDesc &op, Mode mode, const Shape &low) {
  const Shape in = op.inputs[0].shape, out = op.outputs[0].shape;
  if (in.empty())
    return makeKernel([](const Run &run) { *run.out<U>() = *run.in<U>(0); });
  LoopNest<1> rows; // over all dimensions but the last; counters give positions
  rows.sizes.assign(out.begin(), out.end());
  rows.strides[0] = rowMajorStrides(out);
  rows.counter.resize(out.size());
  const Shape inStrides = rowMajorStrides(in);
  const size_t last = in.size() - 1;
  return makeKernel([=](const Run &run) mutable {
    rows.forEach([&](const std::array<int64_t, 1> &at) {
      const U *from = run.in<U>(0);
      for (size_t d = 0; d < last; ++d)
        from +=
            sourceIndex(mode, rows.counter[d] - low[d], in[d]) * inStrides[d];
      U *to = run.out<U>() + at[0];
      const int64_t before = low[last], middle = in[last];
      for (int64_t i = 0; i < before; ++i)
        to[i] = from[sourceIndex(mode, i - before, middle)];
      std::memcpy(to + before, from, static_cast<size_t>(middle) * sizeof(U));
      for (int64_t i = before + middle; i < out[last]; ++i)
        to[i] = from[sourceIndex(mode, i - before, middle)];
    });
  });
}

KernelOr makePad(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 2));
  const TensorType &type = op.inputs[0];
  PIPEC_ASSIGN_OR_RETURN(
      const size_t mode,
      keywordAttr(op, "mode", {"constant", "reflect", "edge", "wrap"}));
  PIPEC_RETURN_IF_ERROR(checkSameDType(op, 0, 1));
  PIPEC_RETURN_IF_ERROR(checkShape(op, 1, {}));
  const int64_t least = mode == Constant ? -(int64_t(1) << 31) : 0;
  PIPEC_ASSIGN_OR_RETURN(const Shape low,
                         listAttr(op, "low", type.shape.size(), least));
  PIPEC_ASSIGN_OR_RETURN(const Shape high,
                         listAttr(op, "high", type.shape.size(), least));
  TensorType result = type;
  for (size_t d = 0; d < low.size(); ++d) {
    int64_t &size = result.shape[d];
    size += low[d] + high[d];
    if (size < 0 || (mode != Constant && type.shape[d] == 0 && size != 0))
      return invalidArgument("dim " + std::to_string(d) + " of " + type.str() +
                             " cannot be padded by " + std::to_string(low[d]) +
                             " and " + std::to_string(high[d]));
  }
  PIPEC_RETURN_IF_ERROR(checkResult(op, result));
  return dispatchWidth(type.dtype, [&](auto tag) {
    using U = typename decltype(tag)::type;
    return mode == Constant
               ? makeConstant<U>(op, low)
               : makeFromOperand<U>(op, static_cast<Mode>(mode), low);
  });
}

} // namespace

void registerPad(KernelRegistry &registry) {
  registry.add("pad", KernelSet::Reference, makePad);
}

} // namespace pipec::reference
