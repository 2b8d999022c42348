// How the kernel tests make tensors, run one op and compare. Every run goes
// twice over buffers of exact size, first filled with a pattern: results that
// are left unwritten, depend on what lay there, or overrun (under
// AddressSanitizer) show in every test.
#ifndef PIPEC_TEST_UNIT_KERNELS_KERNELTEST_H
#define PIPEC_TEST_UNIT_KERNELS_KERNELTEST_H

#include "runtime/kernels/kernel.h"

#include <gtest/gtest.h>

namespace pipec::test {

using Shape = std::vector<int64_t>;
using Values = std::vector<double>;

constexpr DType kFloats[] = {DType::F16, DType::BF16, DType::F32, DType::F64};
constexpr DType kInts[] = {DType::I8, DType::I16, DType::I32, DType::I64,
                           DType::U8, DType::U16, DType::U32, DType::U64};
constexpr DType kNums[] = {DType::I8,  DType::I16,  DType::I32, DType::I64,
                           DType::U8,  DType::U16,  DType::U32, DType::U64,
                           DType::F16, DType::BF16, DType::F32, DType::F64};
constexpr DType kAll[] = {DType::Bool, DType::I8,  DType::I16,  DType::I32,
                          DType::I64,  DType::U8,  DType::U16,  DType::U32,
                          DType::U64,  DType::F16, DType::BF16, DType::F32,
                          DType::F64};

/// Each value rounded to `dtype`, in memory of exactly that size; `shift` bytes
/// from a 64-byte boundary.
Tensor make(DType dtype, const Shape &shape, const Values &values,
            size_t shift = 0);
/// Uninitialised but patterned memory of exact size.
Tensor blank(const TensorType &type, size_t shift = 0);
/// Integers in [-range, range] (range 0: reals in [-1, 1)) from a fixed seed.
Tensor random(DType dtype, const Shape &shape, unsigned seed, int range = 0);
Values values(const Tensor &tensor);
std::string bytes(const Tensor &tensor);

/// The relative (and, near 0, absolute) tolerance of one rounded operation in
/// `dtype`.
double tolerance(DType dtype);

/// One op under test.
class Op {
public:
  explicit Op(std::string name) { desc.name = std::move(name); }
  Op &attr(const std::string &key, AttrValue value) {
    desc.attrs[key] = std::move(value);
    return *this;
  }
  Op &from(const std::string &node) {
    desc.origin.node = node;
    return *this;
  }

  /// Runs the reference kernel (or, with `referenceOnly` false, what the
  /// registry picks).
  StatusOr<std::vector<Tensor>> tryRun(const std::vector<Tensor> &inputs,
                                       const std::vector<TensorType> &outputs,
                                       bool referenceOnly = true);
  /// The one result; a failure fails the test.
  Tensor run(const std::vector<Tensor> &inputs, const TensorType &output,
             bool referenceOnly = true);
  /// Makes the kernel only.
  Status tryMake(const std::vector<TensorType> &inputs,
                 const std::vector<TensorType> &outputs);

  OpDesc desc;
};

/// Elementwise comparison; NaN equals NaN. `scale` multiplies the tolerance.
void expectValues(const Tensor &actual, const Values &expected,
                  double scale = 1);
/// The op must be refused when made, with `part` in the message.
void expectRefused(Op op, const std::vector<TensorType> &inputs,
                   const std::vector<TensorType> &outputs,
                   const std::string &part = "");

} // namespace pipec::test

#endif
