// scatter_elements, scatter_nd: writing at computed positions. In: an operand,
// i32 or i64 indices, updates. Out: a copy of the operand with the updates set,
// added, multiplied or compared in, in row-major order of the updates. Each
// update rounds by itself. Of bool, add and max are or, mul and min are and.
// Tests: test/unit/kernels/ScatterTest.cpp.
#include "runtime/kernels/reference/families.h"
#include "runtime/kernels/reference/indexing.h"

#include <cstring>

namespace pipec::reference {
namespace {

using UpdateRow = void (*)(void *to, const void *from, int64_t n);

struct Set {
  template <typename C> static C apply(C, C b) { return b; }
};
struct Add {
  template <typename C> static C apply(C a, C b) {
    if constexpr (std::is_same_v<C, bool>)
      return a || b;
    else if constexpr (std::is_integral_v<C>)
      return static_cast<C>(static_cast<Wrapping<C>>(a) +
                            static_cast<Wrapping<C>>(b));
    else
      return a + b;
  }
};
struct Mul {
  template <typename C> static C apply(C a, C b) {
    if constexpr (std::is_same_v<C, bool>)
      return a && b;
    else if constexpr (std::is_integral_v<C>)
      return static_cast<C>(static_cast<Wrapping<C>>(a) *
                            static_cast<Wrapping<C>>(b));
    else
      return a * b;
  }
};
struct Max {
  template <typename C> static C apply(C a, C b) {
    return a > b || a != a ? a : b;
  }
};
struct Min {
  template <typename C> static C apply(C a, C b) {
    return a < b || a != a ? a : b;
  }
};

template <typename T, typename F>
void updateRow(void *to, const void *from, int64_t n) {
  T *a = static_cast<T *>(to);
  const T *b = static_cast<const T *>(from);
  for (int64_t i = 0; i < n; ++i)
    a[i] = store<T>(F::apply(load(a[i]), load(b[i])));
}

// make(UpdateRow) for the kind and element type of the op.
template <typename F> KernelOr withUpdate(const OpDesc &op, F &&make) {
  PIPEC_ASSIGN_OR_RETURN(
      const size_t kind,
      keywordAttr(op, "kind", {"set", "add", "mul", "max", "min"}));
  return dispatch<kAny>(op.inputs[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    constexpr UpdateRow rows[] = {updateRow<T, Set>, updateRow<T, Add>,
                                  updateRow<T, Mul>, updateRow<T, Max>,
                                  updateRow<T, Min>};
    return make(rows[kind]);
  });
}

Status checkScatter(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkArity(op, 3));
  PIPEC_RETURN_IF_ERROR(checkIndexType(op, 1));
  PIPEC_RETURN_IF_ERROR(checkSameDType(op, 0, 2));
  return checkResult(op, op.inputs[0]);
}

void copyOperand(const Run &run, size_t bytes) {
  if (bytes)
    std::memcpy(run.out<char>(), run.in<char>(0), bytes);
}

KernelOr makeScatterElements(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkScatter(op));
  const TensorType &type = op.inputs[0], &indexType = op.inputs[1];
  PIPEC_ASSIGN_OR_RETURN(const int64_t dim, dimAttr(op, "dim", type.rank()));
  PIPEC_RETURN_IF_ERROR(checkShape(op, 2, indexType.shape));
  PIPEC_ASSIGN_OR_RETURN(LoopNest<2> nest,
                         elementPositions(type, indexType, dim));
  const int64_t size = type.shape[dim], step = rowMajorStrides(type.shape)[dim];
  const size_t bytes = type.byteSize();
  const auto width = static_cast<int64_t>(byteSize(type.dtype));
  return withUpdate(op, [&](UpdateRow update) {
    return makeKernel([=, name = opText(op)](const Run &run) mutable {
      copyOperand(run, bytes);
      const Indices indices(run.inputs[1]);
      char *out = run.out<char>();
      const char *updates = run.in<char>(2);
      Status status;
      nest.forEach([&](const std::array<int64_t, 2> &at) {
        for (int64_t i = 0; i < nest.inner() && status.ok(); ++i) {
          const int64_t index = resolveIndex(indices[at[0] + i], size);
          if (index < 0)
            status = indexError(name, indices[at[0] + i], at[0] + i, size);
          else
            update(out +
                       (at[1] + i * nest.innerStride(1) + index * step) * width,
                   updates + (at[0] + i) * width, 1);
        }
      });
      return status;
    });
  });
}

KernelOr makeScatterNd(const OpDesc &op) {
  PIPEC_RETURN_IF_ERROR(checkScatter(op));
  const TensorType &type = op.inputs[0];
  const Shape &from = op.inputs[1].shape;
  const int64_t k = from.empty() ? -1 : from.back();
  if (k < 0 || k > type.rank())
    return invalidArgument("indices " + op.inputs[1].str() + " do not fit " +
                           type.str());
  Shape shape(from.begin(), from.end() - 1);
  shape.insert(shape.end(), type.shape.begin() + k, type.shape.end());
  PIPEC_RETURN_IF_ERROR(checkShape(op, 2, shape));

  const Shape strides = rowMajorStrides(type.shape);
  PositionReader reader;
  reader.sizes.assign(type.shape.begin(), type.shape.begin() + k);
  reader.strides.assign(strides.begin(), strides.begin() + k);
  reader.op = opText(op);
  const int64_t rows = numElements(from, 0, from.size() - 1),
                slice = numElements(type.shape, k, type.shape.size());
  const size_t bytes = type.byteSize();
  const auto width = static_cast<int64_t>(byteSize(type.dtype));
  return withUpdate(op, [&](UpdateRow update) {
    return makeKernel([=](const Run &run) {
      copyOperand(run, bytes);
      const Indices indices(run.inputs[1]);
      for (int64_t row = 0; row < rows; ++row) {
        PIPEC_ASSIGN_OR_RETURN(const int64_t at, reader.offset(indices, row));
        update(run.out<char>() + at * width,
               run.in<char>(2) + row * slice * width, slice);
      }
      return Status();
    });
  });
}

} // namespace

void registerScatter(KernelRegistry &registry) {
  registry.add("scatter_elements", KernelSet::Reference, makeScatterElements);
  registry.add("scatter_nd", KernelSet::Reference, makeScatterNd);
}

} // namespace pipec::reference
