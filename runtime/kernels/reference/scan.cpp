// Ops along one dimension: arg_reduce, cumulative, top_k. In: a tensor, seen as
// outer x n x inner. Out: positions, running combinations, or the k extremes in
// order. Tests: test/unit/kernels/ScanTest.cpp.
#include "runtime/kernels/reference/families.h"
#include "runtime/kernels/reference/support.h"

#include <algorithm>

namespace pipec::reference {
namespace {

struct Lines {
  int64_t outer, n, inner;
};

Lines linesOf(const Shape &shape, int64_t dim) {
  return {numElements(shape, 0, dim), shape[dim],
          numElements(shape, dim + 1, shape.size())};
}

// body(first element, line number) for each line; a line's elements are `inner`
// apart.
template <typename F>
void forEachLine(const Lines &lines, int64_t n, F &&body) {
  for (int64_t o = 0; o < lines.outer; ++o)
    for (int64_t i = 0; i < lines.inner; ++i)
      body(o * n * lines.inner + i, o * lines.inner + i);
}

// Whether `a` goes before `b` when the largest (or smallest) come first. NaN
// counts as the largest.
template <typename C> bool ranksBefore(C a, C b, bool largest) {
  if constexpr (std::is_floating_point_v<C>) {
    if (a != a || b != b)
      return largest ? a != a && b == b : a == a && b != b;
  }
  return largest ? a > b : a < b;
}

template <typename T>
KernelOr makeArgReduceTyped(const Lines &lines, bool largest, bool last) {
  return makeKernel([=](const Run &run) {
    const T *in = run.in<T>(0);
    int64_t *out = run.out<int64_t>();
    forEachLine(lines, lines.n, [&](int64_t first, int64_t line) {
      int64_t best = 0;
      auto extreme = load(in[first]);
      for (int64_t k = 1; k < lines.n; ++k) {
        const auto x = load(in[first + k * lines.inner]);
        // NaN is the extreme in both directions, so it is compared here and not
        // by rank.
        const bool nan = x != x, extremeNan = extreme != extreme;
        const bool better =
            extremeNan ? false : nan || (largest ? x > extreme : x < extreme);
        if (better || (last && (x == extreme || (nan && extremeNan)))) {
          best = k;
          extreme = x;
        }
      }
      out[line] = best;
    });
  });
}

KernelOr makeArgReduce(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 1));
  const TensorType &type = op.inputs[0];
  PIPEC_ASSIGN_OR_RETURN(const int64_t dim, dimAttr(op, "dim", type.rank()));
  PIPEC_ASSIGN_OR_RETURN(const bool keep, attrOr(op, "keep_dims", false));
  PIPEC_ASSIGN_OR_RETURN(const bool last, attrOr(op, "select_last", false));
  PIPEC_ASSIGN_OR_RETURN(const size_t kind,
                         keywordAttr(op, "kind", {"argmax", "argmin"}));
  Shape result = type.shape;
  if (keep)
    result[dim] = 1;
  else
    result.erase(result.begin() + dim);
  PIPEC_RETURN_IF_ERROR(checkResult(op, {DType::I64, result}));
  const Lines lines = linesOf(type.shape, dim);
  if (lines.n == 0 && lines.outer * lines.inner != 0)
    return invalidArgument("dim " + std::to_string(dim) + " of " + type.str() +
                           " has no element to choose");
  return dispatch<kNum>(type.dtype, [&](auto tag) {
    return makeArgReduceTyped<typename decltype(tag)::type>(lines, kind == 0,
                                                            last);
  });
}

template <typename T, bool Product>
KernelOr makeCumulativeTyped(const Lines &lines, bool exclusive, bool reverse) {
  using A = Accumulator<T>;
  return makeKernel([=](const Run &run) {
    const T *in = run.in<T>(0);
    T *out = run.out<T>();
    forEachLine(lines, lines.n, [&](int64_t first, int64_t) {
      A total = Product ? 1 : 0;
      for (int64_t k = 0; k < lines.n; ++k) {
        const int64_t at =
            first + (reverse ? lines.n - 1 - k : k) * lines.inner;
        const A before = total, x = widen(in[at]);
        if constexpr (std::is_integral_v<A>)
          total = static_cast<A>(
              Product
                  ? static_cast<uint64_t>(total) * static_cast<uint64_t>(x)
                  : static_cast<uint64_t>(total) + static_cast<uint64_t>(x));
        else
          total = Product ? total * x : total + x;
        out[at] = store<T>(exclusive ? before : total);
      }
    });
  });
}

KernelOr makeCumulative(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 1));
  const TensorType &type = op.inputs[0];
  PIPEC_ASSIGN_OR_RETURN(const int64_t dim, dimAttr(op, "dim", type.rank()));
  PIPEC_ASSIGN_OR_RETURN(const bool exclusive, attrOr(op, "exclusive", false));
  PIPEC_ASSIGN_OR_RETURN(const bool reverse, attrOr(op, "reverse", false));
  PIPEC_ASSIGN_OR_RETURN(const size_t kind,
                         keywordAttr(op, "kind", {"cumsum", "cumprod"}));
  PIPEC_RETURN_IF_ERROR(checkResult(op, type));
  const Lines lines = linesOf(type.shape, dim);
  return dispatch<kNum>(type.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return kind == 0 ? makeCumulativeTyped<T, false>(lines, exclusive, reverse)
                     : makeCumulativeTyped<T, true>(lines, exclusive, reverse);
  });
}

template <typename T>
KernelOr makeTopKTyped(const Lines &lines, int64_t k, bool largest) {
  ScratchPlan scratch;
  scratch.add<int64_t>(lines.n);
  return makeKernel(
      [=](const Run &run) {
        const T *in = run.in<T>(0);
        T *values = run.out<T>(0);
        int64_t *indices = run.out<int64_t>(1);
        int64_t *order = run.scratch<int64_t>(0);
        if (k == 0)
          return;
        forEachLine(lines, lines.n, [&](int64_t first, int64_t line) {
          for (int64_t i = 0; i < lines.n; ++i)
            order[i] = i;
          const T *row = in + first;
          const int64_t step = lines.inner;
          const auto before = [=](int64_t a, int64_t b) {
            const auto x = load(row[a * step]), y = load(row[b * step]);
            if (ranksBefore(x, y, largest))
              return true;
            return !ranksBefore(y, x, largest) && a < b;
          };
          if (k > lines.n / 4)
            std::sort(order, order + lines.n, before);
          else
            std::partial_sort(order, order + k, order + lines.n, before);
          const int64_t to = (line / step) * k * step + line % step;
          for (int64_t i = 0; i < k; ++i) {
            values[to + i * step] = row[order[i] * step];
            indices[to + i * step] = order[i];
          }
        });
      },
      scratch);
}

KernelOr makeTopK(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 1, 2));
  const TensorType &type = op.inputs[0];
  PIPEC_ASSIGN_OR_RETURN(const int64_t dim, dimAttr(op, "dim", type.rank()));
  PIPEC_ASSIGN_OR_RETURN(const int64_t k, op.get<int64_t>("k"));
  PIPEC_ASSIGN_OR_RETURN(const bool largest, attrOr(op, "largest", true));
  if (k < 0 || k > type.shape[dim])
    return invalidArgument("k " + std::to_string(k) +
                           " is out of range for dim " + std::to_string(dim) +
                           " of " + type.str());
  TensorType result = type;
  result.shape[dim] = k;
  PIPEC_RETURN_IF_ERROR(checkResult(op, result, 0));
  PIPEC_RETURN_IF_ERROR(checkResult(op, {DType::I64, result.shape}, 1));
  const Lines lines = linesOf(type.shape, dim);
  return dispatch<kNum>(type.dtype, [&](auto tag) {
    return makeTopKTyped<typename decltype(tag)::type>(lines, k, largest);
  });
}

} // namespace

void registerScan(KernelRegistry &registry) {
  registry.add("arg_reduce", KernelSet::Reference, makeArgReduce);
  registry.add("cumulative", KernelSet::Reference, makeCumulative);
  registry.add("top_k", KernelSet::Reference, makeTopK);
}

} // namespace pipec::reference
