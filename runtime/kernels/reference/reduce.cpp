// reduce: combines the elements along some dimensions. In: a tensor. Out: the
// shape without those dimensions, or with 1 in their place.
//
// After merging dimensions, one that is reduced innermost goes row by row in
// the lane order of sums.h, the rows' results being combined in ascending
// order; one that is kept innermost has all its columns combined in ascending
// order at once. Both follow from the shape alone. Tests:
// test/unit/kernels/ReduceTest.cpp.
#include "runtime/kernels/reference/families.h"
#include "runtime/kernels/reference/strided.h"
#include "runtime/kernels/reference/sums.h"

#include <cstring>
#include <limits>

namespace pipec::reference {
namespace {

struct Sum : CombineSum {
  template <typename T> using State = Accumulator<T>;
  template <typename T> static State<T> identity() { return 0; }
  template <typename T> static T finish(State<T> sum, int64_t) {
    return store<T>(sum);
  }
};

struct Mean : Sum {
  template <typename T> static T finish(State<T> sum, int64_t count) {
    if constexpr (kIsFloat<T>)
      return store<T>(sum / static_cast<State<T>>(count));
    else
      return count == 0 ? T(0) : store<T>(sum / static_cast<State<T>>(count));
  }
};

struct Prod {
  template <typename T> using State = Accumulator<T>;
  template <typename T> static State<T> identity() { return 1; }
  template <typename A> static A apply(A a, A b) {
    if constexpr (std::is_integral_v<A>)
      return static_cast<A>(static_cast<uint64_t>(a) *
                            static_cast<uint64_t>(b));
    else
      return a * b;
  }
  template <typename T> static T finish(State<T> product, int64_t) {
    return store<T>(product);
  }
};

// Max and Min: NaN wins from either side; of bool, or and and.
template <bool Largest> struct Extreme {
  template <typename T> using State = Compute<T>;
  template <typename T> static State<T> identity() {
    using Limits = std::numeric_limits<Compute<T>>;
    if constexpr (Limits::has_infinity)
      return Largest ? -Limits::infinity() : Limits::infinity();
    else
      return Largest ? Limits::lowest() : Limits::max();
  }
  template <typename C> static C apply(C a, C b) {
    return (Largest ? a > b : a < b) || a != a ? a : b;
  }
  template <typename T> static T finish(State<T> extreme, int64_t) {
    return store<T>(extreme);
  }
};

struct Plan {
  LoopNest<2>
      nest; // array 0: the operand; array 1: the result, stride 0 where reduced
  int64_t outputs = 0; // elements of the result
  int64_t count = 0;   // elements combined into each
  bool innerReduced = false;
};

// The state of every result element lies in scratch while rows arrive in order.
template <typename K, typename T> KernelOr makeTyped(const Plan &plan) {
  using S = typename K::template State<T>;
  ScratchPlan scratch;
  scratch.add<S>(plan.outputs);
  return makeKernel(
      [plan = plan](const Run &run) mutable {
        const T *in = run.in<T>(0);
        T *out = run.out<T>();
        S *state = run.scratch<S>(0);
        const S identity = K::template identity<T>();
        std::fill_n(state, plan.outputs, identity);
        const int64_t n = plan.nest.inner();
        plan.nest.forEach([&](const std::array<int64_t, 2> &at) {
          const T *row = in + at[0];
          S *to = state + at[1];
          if (plan.innerReduced) {
            const S value = combineRow<K>(n, identity, [row](int64_t i) {
              return static_cast<S>(load(row[i]));
            });
            *to = K::apply(*to, value);
          } else {
            for (int64_t i = 0; i < n; ++i)
              to[i] = K::apply(to[i], static_cast<S>(load(row[i])));
          }
        });
        for (int64_t i = 0; i < plan.outputs; ++i)
          out[i] = K::template finish<T>(state[i], plan.count);
      },
      scratch);
}

template <typename K, unsigned Classes>
KernelOr makeKind(DType dtype, const Plan &plan) {
  return dispatch<Classes>(dtype, [&](auto tag) {
    return makeTyped<K, typename decltype(tag)::type>(plan);
  });
}

KernelOr makeReduce(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 1));
  const TensorType &type = op.inputs[0];
  PIPEC_ASSIGN_OR_RETURN(const Shape dims, dimsAttr(op, "dims", type.rank()));
  PIPEC_ASSIGN_OR_RETURN(const bool keep, attrOr(op, "keep_dims", false));
  PIPEC_ASSIGN_OR_RETURN(
      const size_t kind,
      keywordAttr(op, "kind", {"sum", "mean", "prod", "max", "min"}));

  std::vector<bool> reduced(type.shape.size(), false);
  for (int64_t dim : dims)
    reduced[dim] = true;
  Shape kept, result;
  Plan plan;
  plan.count = 1;
  for (size_t d = 0; d < reduced.size(); ++d) {
    kept.push_back(reduced[d] ? 1 : type.shape[d]);
    if (!reduced[d] || keep)
      result.push_back(kept[d]);
    if (reduced[d])
      plan.count *= type.shape[d];
  }
  PIPEC_RETURN_IF_ERROR(checkResult(op, {type.dtype, result}));
  if (dims.empty()) {
    const size_t bytes = type.byteSize();
    return makeKernel([bytes](const Run &run) {
      if (bytes)
        std::memcpy(run.out<char>(), run.in<char>(0), bytes);
    });
  }
  plan.outputs = numElements(kept, 0, kept.size());
  plan.nest.sizes = type.shape;
  plan.nest.strides[0] = rowMajorStrides(type.shape);
  PIPEC_ASSIGN_OR_RETURN(plan.nest.strides[1],
                         broadcastStrides(kept, type.shape));
  plan.nest.simplify();
  plan.innerReduced = plan.nest.innerStride(1) == 0;
  constexpr KernelOr (*kinds[])(DType, const Plan &) = {
      makeKind<Sum, kNum>, makeKind<Mean, kNum>, makeKind<Prod, kNum>,
      makeKind<Extreme<true>, kAny>, makeKind<Extreme<false>, kAny>};
  return kinds[kind](type.dtype, plan);
}

} // namespace

void registerReduce(KernelRegistry &registry) {
  registry.add("reduce", KernelSet::Reference, makeReduce);
}

} // namespace pipec::reference
