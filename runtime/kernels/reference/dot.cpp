// dot_general: batched contraction. In: two tensors and their batch and
// contracted dimensions. Out: batch dimensions, then what is left of lhs and
// rhs.
//
// Operands are packed to [b, m, k] and [b, k, n], unless they lie so; then each
// result is its products added one by one in ascending k: in f32 for f16, bf16
// and f32, in f64 for f64, in wrapping integers else. The inner loop runs over
// n. Tests: test/unit/kernels/DotTest.cpp.
#include "runtime/kernels/reference/dot_dims.h"
#include "runtime/kernels/reference/families.h"
#include "runtime/kernels/reference/strided.h"

#include <algorithm>

namespace pipec::reference {
namespace {

constexpr int64_t kRows = 4, kColumns = 128;

// rows x columns results at `out`; `a` has `lda` between rows, `b` and `out`
// have `ldb`.
template <typename A>
void multiplyBlock(const A *a, int64_t lda, const A *b, A *out, int64_t ldb,
                   int64_t rows, int64_t columns, int64_t k) {
  A sums[kRows][kColumns] = {};
  for (int64_t p = 0; p < k; ++p) {
    const A *row = b + p * ldb;
    for (int64_t i = 0; i < rows; ++i) {
      const A x = a[i * lda + p];
      for (int64_t j = 0; j < columns; ++j)
        sums[i][j] += x * row[j];
    }
  }
  for (int64_t i = 0; i < rows; ++i)
    std::copy_n(sums[i], columns, out + i * ldb);
}

template <typename A>
void multiply(const A *a, const A *b, A *out, int64_t m, int64_t n, int64_t k) {
  for (int64_t j = 0; j < n; j += kColumns)
    for (int64_t i = 0; i < m; i += kRows)
      multiplyBlock(a + i * k, k, b + j, out + i * n + j, n,
                    std::min(kRows, m - i), std::min(kColumns, n - j), k);
}

// One operand as a dense [b, rows, columns] array of A: in place, or converted
// and packed into scratch.
template <typename T, typename A> struct Packed {
  int64_t count;
  bool inPlace;
  StridedCopy copy;
  size_t converted = 0, packed = 0;

  Packed(const Shape &sizes, const Shape &strides, int64_t count,
         ScratchPlan &scratch)
      : count(count), copy(sizes, rowMajorStrides(sizes), strides, sizeof(A)) {
    inPlace = true;
    const Shape dense = rowMajorStrides(sizes);
    for (size_t d = 0; d < sizes.size(); ++d)
      inPlace &= sizes[d] == 1 || strides[d] == dense[d];
    if (!std::is_same_v<T, A>)
      converted = scratch.add<A>(count);
    if (!inPlace)
      packed = scratch.add<A>(count);
  }

  // Sign-extends integers: the low bits of wrapping sums come out right.
  static A widen(Compute<T> value) {
    if constexpr (kIsFloat<T>)
      return value;
    else
      return static_cast<A>(static_cast<int64_t>(value));
  }

  const A *get(const Run &run, size_t input) {
    const A *source;
    if constexpr (std::is_same_v<T, A>) {
      source = run.in<A>(input);
    } else {
      A *to = run.scratch<A>(converted);
      for (int64_t i = 0; i < count; ++i)
        to[i] = widen(load(run.in<T>(input)[i]));
      source = to;
    }
    if (inPlace)
      return source;
    copy.run(run.scratch<A>(packed), source);
    return run.scratch<A>(packed);
  }
};

Shape join(const Shape &a, const Shape &b, const Shape &c) {
  Shape all = a;
  all.insert(all.end(), b.begin(), b.end());
  all.insert(all.end(), c.begin(), c.end());
  return all;
}

template <typename T>
KernelOr makeDotTyped(const OpDesc &op, const DotDims &d) {
  using A = std::conditional_t<kIsFloat<T>, Compute<T>, Wrapping<T>>;
  ScratchPlan scratch;
  Packed<T, A> lhs(
      join(d.batch, d.lhsFree, d.contract),
      join(d.lhsBatchStrides, d.lhsFreeStrides, d.lhsContractStrides),
      op.inputs[0].numElements(), scratch);
  Packed<T, A> rhs(
      join(d.batch, d.contract, d.rhsFree),
      join(d.rhsBatchStrides, d.rhsContractStrides, d.rhsFreeStrides),
      op.inputs[1].numElements(), scratch);
  const int64_t outputs = op.outputs[0].numElements();
  constexpr bool direct = std::is_same_v<T, A>;
  const size_t result = direct ? 0 : scratch.add<A>(outputs);
  const int64_t b = d.b, m = d.m, n = d.n, k = d.k;
  return makeKernel(
      [=](const Run &run) mutable {
        if (outputs == 0)
          return;
        const A *x = lhs.get(run, 0), *y = rhs.get(run, 1);
        A *out = direct ? run.out<A>() : run.scratch<A>(result);
        for (int64_t i = 0; i < b; ++i)
          multiply(x + i * m * k, y + i * k * n, out + i * m * n, m, n, k);
        if constexpr (!direct)
          for (int64_t i = 0; i < outputs; ++i)
            run.out<T>()[i] = store<T>(out[i]);
      },
      scratch);
}

// The dimensions of `type` that are in neither list; an error where the lists
// repeat one or leave its rank.
StatusOr<Shape> freeDims(const TensorType &type, const Shape &batch,
                         const Shape &contract) {
  std::vector<bool> used(type.shape.size(), false);
  for (const Shape *list : {&batch, &contract})
    for (int64_t dim : *list) {
      if (dim < 0 || dim >= type.rank() || used[dim])
        return invalidArgument("dimension " + std::to_string(dim) + " of " +
                               type.str() + " is out of range or named twice");
      used[dim] = true;
    }
  Shape free;
  for (int64_t dim = 0; dim < type.rank(); ++dim)
    if (!used[dim])
      free.push_back(dim);
  return free;
}

void pick(const Shape &from, const Shape &dims, Shape &to) {
  for (int64_t dim : dims)
    to.push_back(from[dim]);
}

KernelOr makeDot(const OpDesc &op) {
  PIPEC_ASSIGN_OR_RETURN(const DotDims dims, readDotDims(op));
  return dispatch<kNum>(op.inputs[0].dtype, [&](auto tag) {
    return makeDotTyped<typename decltype(tag)::type>(op, dims);
  });
}

} // namespace

StatusOr<DotDims> readDotDims(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 2));
  PIPEC_RETURN_IF_ERROR(checkSameDType(op, 0, 1));
  const TensorType &lhs = op.inputs[0], &rhs = op.inputs[1];
  PIPEC_ASSIGN_OR_RETURN(const Shape lhsBatch,
                         attrOr(op, "lhs_batch", Shape()));
  PIPEC_ASSIGN_OR_RETURN(const Shape rhsBatch,
                         attrOr(op, "rhs_batch", Shape()));
  PIPEC_ASSIGN_OR_RETURN(const Shape lhsContract,
                         op.get<Shape>("lhs_contract"));
  PIPEC_ASSIGN_OR_RETURN(const Shape rhsContract,
                         op.get<Shape>("rhs_contract"));
  PIPEC_ASSIGN_OR_RETURN(const Shape lhsFree,
                         freeDims(lhs, lhsBatch, lhsContract));
  PIPEC_ASSIGN_OR_RETURN(const Shape rhsFree,
                         freeDims(rhs, rhsBatch, rhsContract));
  DotDims d;
  Shape rhsSizes, rhsContracted;
  pick(lhs.shape, lhsBatch, d.batch);
  pick(rhs.shape, rhsBatch, rhsSizes);
  pick(lhs.shape, lhsContract, d.contract);
  pick(rhs.shape, rhsContract, rhsContracted);
  if (d.batch != rhsSizes || d.contract != rhsContracted)
    return invalidArgument("the paired dimensions of " + lhs.str() + " and " +
                           rhs.str() + " differ in size");
  pick(lhs.shape, lhsFree, d.lhsFree);
  pick(rhs.shape, rhsFree, d.rhsFree);
  const Shape lhsStrides = rowMajorStrides(lhs.shape),
              rhsStrides = rowMajorStrides(rhs.shape);
  pick(lhsStrides, lhsBatch, d.lhsBatchStrides);
  pick(lhsStrides, lhsFree, d.lhsFreeStrides);
  pick(lhsStrides, lhsContract, d.lhsContractStrides);
  pick(rhsStrides, rhsBatch, d.rhsBatchStrides);
  pick(rhsStrides, rhsFree, d.rhsFreeStrides);
  pick(rhsStrides, rhsContract, d.rhsContractStrides);
  d.b = numElements(d.batch, 0, d.batch.size());
  d.m = numElements(d.lhsFree, 0, d.lhsFree.size());
  d.n = numElements(d.rhsFree, 0, d.rhsFree.size());
  d.k = numElements(d.contract, 0, d.contract.size());
  PIPEC_RETURN_IF_ERROR(
      checkResult(op, {lhs.dtype, join(d.batch, d.lhsFree, d.rhsFree)}));
  return d;
}

void registerDot(KernelRegistry &registry) {
  registry.add("dot_general", KernelSet::Reference, makeDot);
}

} // namespace pipec::reference
