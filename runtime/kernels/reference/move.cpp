// Ops that only move elements: iota, reshape, stop_gradient, transpose,
// broadcast, slice, reverse, concat. In: tensors. Out: the same elements
// elsewhere, by one strided copy each; nothing is computed, so any element type
// goes by its width. Tests: test/unit/kernels/MoveTest.cpp.
#include "runtime/kernels/reference/families.h"
#include "runtime/kernels/reference/strided.h"

#include <algorithm>
#include <cstring>

namespace pipec::reference {
namespace {

// A copy of a whole operand or region into the whole result; `offset` elements
// into the operand.
KernelOr makeCopy(const OpDesc &op, const Shape &inStrides, int64_t offset) {
  const TensorType &result = op.outputs[0];
  const size_t width = byteSize(result.dtype);
  StridedCopy copy(result.shape, rowMajorStrides(result.shape), inStrides,
                   width);
  const int64_t skip =
      result.numElements() == 0 ? 0 : offset * static_cast<int64_t>(width);
  return makeKernel([copy, skip](const Run &run) mutable {
    copy.run(run.out<char>(), run.in<char>(0) + skip);
  });
}

KernelOr makeIota(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 0));
  const TensorType &type = op.outputs[0];
  PIPEC_ASSIGN_OR_RETURN(const int64_t dim, dimAttr(op, "dim", type.rank()));
  const int64_t outer = numElements(type.shape, 0, dim), n = type.shape[dim];
  const int64_t inner = numElements(type.shape, dim + 1, type.shape.size());
  return dispatch<kNum>(type.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return makeKernel([=](const Run &run) {
      T *out = run.out<T>();
      for (int64_t o = 0; o < outer; ++o)
        for (int64_t i = 0; i < n; ++i, out += inner)
          std::fill_n(out, inner, store<T>(static_cast<Compute<T>>(i)));
    });
  });
}

// `shape` must be the result's shape.
Status checkShapeAttr(const OpDesc &op) {
  PIPEC_ASSIGN_OR_RETURN(const Shape shape, op.get<Shape>("shape"));
  return checkResult(op, {op.inputs[0].dtype, shape});
}

/// The same elements in the same order.
KernelOr makeSame(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 1));
  PIPEC_RETURN_IF_ERROR(op.name == "reshape" ? checkShapeAttr(op)
                                             : checkResult(op, op.inputs[0]));
  const size_t bytes = op.inputs[0].byteSize();
  if (bytes != op.outputs[0].byteSize())
    return invalidArgument(op.inputs[0].str() + " and " + op.outputs[0].str() +
                           " differ in their number of elements");
  return makeKernel([bytes](const Run &run) {
    if (bytes)
      std::memcpy(run.out<char>(), run.in<char>(0), bytes);
  });
}

KernelOr makeTranspose(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 1));
  const TensorType &type = op.inputs[0];
  PIPEC_ASSIGN_OR_RETURN(const Shape permutation, op.get<Shape>("permutation"));
  Shape sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  bool valid = sorted.size() == type.shape.size();
  for (size_t i = 0; valid && i < sorted.size(); ++i)
    valid = sorted[i] == static_cast<int64_t>(i);
  if (!valid)
    return invalidArgument("permutation is not one of the " +
                           std::to_string(type.rank()) + " dimensions");
  const Shape own = rowMajorStrides(type.shape);
  Shape shape, strides;
  for (int64_t from : permutation) {
    shape.push_back(type.shape[from]);
    strides.push_back(own[from]);
  }
  PIPEC_RETURN_IF_ERROR(checkResult(op, {type.dtype, shape}));
  return makeCopy(op, strides, 0);
}

KernelOr makeBroadcast(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 1));
  PIPEC_RETURN_IF_ERROR(checkShapeAttr(op));
  PIPEC_ASSIGN_OR_RETURN(
      const Shape strides,
      broadcastStrides(op.inputs[0].shape, op.outputs[0].shape));
  return makeCopy(op, strides, 0);
}

KernelOr makeSlice(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 1));
  const TensorType &type = op.inputs[0];
  const size_t rank = type.shape.size();
  PIPEC_ASSIGN_OR_RETURN(const Shape starts, op.get<Shape>("starts"));
  PIPEC_ASSIGN_OR_RETURN(const Shape limits, op.get<Shape>("limits"));
  PIPEC_ASSIGN_OR_RETURN(const Shape steps, op.get<Shape>("strides"));
  if (starts.size() != rank || limits.size() != rank || steps.size() != rank)
    return invalidArgument(
        "starts, limits and strides need one entry for each of " +
        std::to_string(rank) + " dimensions");
  Shape shape, strides = rowMajorStrides(type.shape);
  int64_t offset = 0;
  for (size_t d = 0; d < rank; ++d) {
    if (starts[d] < 0 || starts[d] > limits[d] || limits[d] > type.shape[d] ||
        steps[d] <= 0)
      return invalidArgument(
          "dim " + std::to_string(d) + ": elements " +
          std::to_string(starts[d]) + " to " + std::to_string(limits[d]) +
          " by " + std::to_string(steps[d]) + " are not in " + type.str());
    const int64_t span = limits[d] - starts[d];
    shape.push_back(span == 0 ? 0 : (span - 1) / steps[d] + 1);
    offset += starts[d] * strides[d];
    strides[d] = shape[d] > 1 ? strides[d] * steps[d] : 0;
  }
  PIPEC_RETURN_IF_ERROR(checkResult(op, {type.dtype, shape}));
  return makeCopy(op, strides, offset);
}

KernelOr makeReverse(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 1));
  const TensorType &type = op.inputs[0];
  PIPEC_ASSIGN_OR_RETURN(const Shape dims, dimsAttr(op, "dims", type.rank()));
  PIPEC_RETURN_IF_ERROR(checkResult(op, type));
  Shape strides = rowMajorStrides(type.shape);
  int64_t offset = 0;
  for (int64_t d : dims) {
    offset += std::max<int64_t>(0, type.shape[d] - 1) * strides[d];
    strides[d] = -strides[d];
  }
  return makeCopy(op, strides, offset);
}

KernelOr makeConcat(const OpDesc &op) {
  if (op.inputs.empty())
    return invalidArgument("expected at least one operand");
  PIPEC_RETURN_IF_ERROR(checkArity(op, op.inputs.size()));
  TensorType joined = op.inputs[0];
  PIPEC_ASSIGN_OR_RETURN(const int64_t dim, dimAttr(op, "dim", joined.rank()));
  for (size_t i = 1; i < op.inputs.size(); ++i) {
    TensorType other = op.inputs[i];
    if (other.rank() != joined.rank() ||
        __builtin_add_overflow(joined.shape[dim], other.shape[dim],
                               &joined.shape[dim]))
      return invalidArgument("operands " + joined.str() + " and " +
                             other.str() + " cannot be joined");
    other.shape[dim] = joined.shape[dim];
    if (other != joined)
      return invalidArgument("operand " + std::to_string(i) + " is " +
                             op.inputs[i].str() + ", which does not fit " +
                             joined.str() + " beside dim " +
                             std::to_string(dim));
  }
  PIPEC_RETURN_IF_ERROR(checkResult(op, joined));
  const size_t width = byteSize(joined.dtype);
  const int64_t outer = numElements(joined.shape, 0, dim);
  const auto row =
      static_cast<size_t>(numElements(joined.shape, dim, joined.shape.size())) *
      width;
  std::vector<size_t> pieces;
  for (const TensorType &type : op.inputs)
    pieces.push_back(
        static_cast<size_t>(numElements(type.shape, dim, type.shape.size())) *
        width);
  return makeKernel([=](const Run &run) {
    size_t at = 0;
    for (size_t i = 0; i < pieces.size(); ++i) {
      for (int64_t o = 0; o < outer && pieces[i]; ++o)
        std::memcpy(run.out<char>() + o * row + at,
                    run.in<char>(i) + o * pieces[i], pieces[i]);
      at += pieces[i];
    }
  });
}

} // namespace

void registerMove(KernelRegistry &registry) {
  const std::pair<const char *, KernelOr (*)(const OpDesc &)> table[] = {
      {"iota", makeIota},           {"reshape", makeSame},
      {"stop_gradient", makeSame},  {"transpose", makeTranspose},
      {"broadcast", makeBroadcast}, {"slice", makeSlice},
      {"reverse", makeReverse},     {"concat", makeConcat},
  };
  for (const auto &[name, factory] : table)
    registry.add(name, KernelSet::Reference, factory);
}

} // namespace pipec::reference
