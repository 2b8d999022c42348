// reduce over every set of dimensions against plain f64 loops; empty and
// special values.
#include "test/unit/kernels/KernelTest.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace pipec;
using namespace pipec::test;

namespace {

const double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

Op reduce(const std::string &kind, Shape dims, bool keep) {
  Op op = Op("reduce").attr("kind", kind).attr("dims", std::move(dims));
  return keep ? op.attr("keep_dims", true) : op;
}

double combine(const std::string &kind, double a, double b) {
  if (kind == "prod")
    return a * b;
  if (kind == "max")
    return std::max(a, b);
  return kind == "min" ? std::min(a, b) : a + b;
}

// Result values by visiting every element once.
Values expectedOf(const std::string &kind, const Tensor &in, const Shape &dims,
                  Shape &result, bool keep) {
  result.clear();
  Shape strides(in.shape().size(), 0);
  int64_t count = 1, outputs = 1;
  for (size_t d = in.shape().size(); d-- > 0;) {
    const bool reduced =
        std::count(dims.begin(), dims.end(), static_cast<int64_t>(d));
    strides[d] = reduced ? 0 : outputs;
    (reduced ? count : outputs) *= in.shape()[d];
    if (!reduced || keep)
      result.insert(result.begin(), reduced ? 1 : in.shape()[d]);
  }
  Values out(outputs, kind == "prod"  ? 1
                      : kind == "max" ? -kInf
                      : kind == "min" ? kInf
                                      : 0);
  const Values x = values(in);
  for (size_t i = 0; i < x.size(); ++i) {
    int64_t at = 0, rest = static_cast<int64_t>(i);
    for (size_t d = strides.size(); d-- > 0; rest /= in.shape()[d])
      at += rest % in.shape()[d] * strides[d];
    out[at] = combine(kind, out[at], x[i]);
  }
  if (kind == "mean")
    for (double &value : out)
      value /= static_cast<double>(count);
  return out;
}

TEST(ReduceTest, EverySetOfDimensions) {
  const Shape shape = {2, 3, 1, 17};
  for (const std::string kind : {"sum", "mean", "prod", "max", "min"})
    for (DType dtype :
         {DType::F32, DType::F64, DType::F16, DType::BF16, DType::I64})
      for (unsigned mask = 0; mask < 16; ++mask)
        for (bool keep : {false, true}) {
          Shape dims, result;
          for (int64_t d = 0; d < 4; ++d)
            if (mask >> d & 1)
              dims.push_back(d);
          SCOPED_TRACE(kind + std::string(dtypeName(dtype)) +
                       std::to_string(mask));
          const Tensor in =
              random(dtype, shape, 7, dtype == DType::I64 ? 1 : 0);
          Values expected = expectedOf(kind, in, dims, result, keep);
          if (dtype == DType::I64)
            for (double &value : expected)
              value = std::trunc(value);
          expectValues(reduce(kind, dims, keep).run({in}, {dtype, result}),
                       expected, 4);
        }
}

TEST(ReduceTest, EveryType) {
  for (DType dtype : kNums) {
    SCOPED_TRACE(dtypeName(dtype));
    const Tensor in = make(dtype, {4}, {1, 2, 3, 5});
    expectValues(reduce("sum", {0}, false).run({in}, {dtype, {}}), {11});
    expectValues(reduce("mean", {0}, false).run({in}, {dtype, {}}),
                 {isFloat(dtype) ? 2.75 : 2.0});
    expectValues(reduce("prod", {0}, false).run({in}, {dtype, {}}), {30});
    expectValues(reduce("max", {0}, false).run({in}, {dtype, {}}), {5});
    expectValues(reduce("min", {0}, false).run({in}, {dtype, {}}), {1});
  }
  const Tensor flags = make(DType::Bool, {2, 3}, {0, 0, 1, 1, 1, 1});
  expectValues(reduce("max", {1}, false).run({flags}, {DType::Bool, {2}}),
               {1, 1});
  expectValues(reduce("min", {1}, false).run({flags}, {DType::Bool, {2}}),
               {0, 1});
  expectRefused(reduce("sum", {1}, false), {flags.type()}, {{DType::Bool, {2}}},
                "element type bool");
}

TEST(ReduceTest, OverNothing) {
  for (DType dtype : kNums) {
    SCOPED_TRACE(dtypeName(dtype));
    const Tensor in = make(dtype, {2, 0}, {});
    const TensorType result{dtype, {2}};
    const double width = static_cast<double>(8 * byteSize(dtype));
    const double most =
        isFloat(dtype)
            ? kInf
            : std::ldexp(1.0, static_cast<int>(width) - isSignedInt(dtype)) - 1;
    const double least = isFloat(dtype) ? -kInf
                         : isSignedInt(dtype)
                             ? -std::ldexp(1.0, static_cast<int>(width) - 1)
                             : 0;
    expectValues(reduce("sum", {1}, false).run({in}, result), {0, 0});
    expectValues(reduce("prod", {1}, false).run({in}, result), {1, 1});
    expectValues(reduce("max", {1}, false).run({in}, result), {least, least});
    expectValues(reduce("min", {1}, false).run({in}, result), {most, most});
    const double mean = isFloat(dtype) ? kNan : 0;
    expectValues(reduce("mean", {1}, false).run({in}, result), {mean, mean});
    expectValues(reduce("sum", {0}, false).run({in}, {dtype, {0}}), {});
  }
}

TEST(ReduceTest, NaNWinsAndIntegersWrap) {
  for (Shape shape : {Shape{1, 3}, Shape{3, 1}, Shape{3}}) {
    const Shape dims = shape.size() == 1 ? Shape{0} : Shape{0, 1};
    const Tensor in = make(DType::F32, shape, {1, kNan, 3});
    for (const std::string kind : {"max", "min", "sum"})
      expectValues(reduce(kind, dims, false).run({in}, {DType::F32, {}}),
                   {kNan});
  }
  expectValues(reduce("sum", {0}, false)
                   .run({make(DType::I8, {2}, {127, 2})}, {DType::I8, {}}),
               {-127});
  expectValues(reduce("mean", {0}, false)
                   .run({make(DType::I8, {2}, {-4, -3})}, {DType::I8, {}}),
               {-3});
  expectValues(reduce("prod", {0}, false)
                   .run({make(DType::U8, {2}, {16, 17})}, {DType::U8, {}}),
               {16});
}

TEST(ReduceTest, LongSumsKeepTheirAccuracy) {
  const int64_t n = 1 << 20;
  Values ones(n, 0.1);
  const Tensor row = make(DType::F32, {1, n}, ones),
               column = make(DType::F32, {n, 1}, ones),
               pairs = make(DType::F32, {n / 2, 2}, ones);
  const double expected = static_cast<double>(0.1f) * n;
  expectValues(reduce("sum", {1}, false).run({row}, {DType::F32, {1}}),
               {expected});
  expectValues(reduce("sum", {0}, false).run({column}, {DType::F32, {1}}),
               {expected});
  expectValues(reduce("sum", {0}, false).run({pairs}, {DType::F32, {2}}),
               {expected / 2, expected / 2});
}

} // namespace
