// Ops of one operand against <cmath> in f64, over all their element types.
#include "test/unit/kernels/KernelTest.h"

#include <cmath>
#include <limits>

using namespace pipec;
using namespace pipec::test;

namespace {

const double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

struct Case {
  const char *op;
  double (*expected)(double);
  double low, high;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

const Case kMath[] = {
    {"exp", std::exp, -5, 5},
    {"expm1", std::expm1, -2, 2},
    {"log", std::log, 0.01, 9},
    {"log1p", std::log1p, -0.9, 9},
    {"sin", std::sin, -7, 7},
    {"cos", std::cos, -7, 7},
    {"tan", std::tan, -1, 1},
    {"asin", std::asin, -1, 1},
    {"acos", std::acos, -1, 1},
    {"atan", std::atan, -9, 9},
    {"sinh", std::sinh, -3, 3},
    {"cosh", std::cosh, -3, 3},
    {"tanh", std::tanh, -5, 5},
    {"asinh", std::asinh, -5, 5},
    {"acosh", std::acosh, 1, 9},
    {"atanh", std::atanh, -0.9, 0.9},
    {"erf", std::erf, -3, 3},
    {"sqrt", std::sqrt, 0, 9},
    {"reciprocal", [](double x) { return 1 / x; }, 0.1, 9},
    {"rsqrt", [](double x) { return 1 / std::sqrt(x); }, 0.1, 9},
    {"floor", std::floor, -9, 9},
    {"ceil", std::ceil, -9, 9},
    {"round", std::nearbyint, -9, 9},
    {"sigmoid", sigmoid, -9, 9},
    {"silu", [](double x) { return x * sigmoid(x); }, -9, 9},
    {"softplus", [](double x) { return std::log1p(std::exp(x)); }, -9, 9},
    {"gelu",
     [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }, -5,
     5},
    {"abs", [](double x) { return std::abs(x); }, -9, 9},
    {"neg", [](double x) { return -x; }, -9, 9},
    {"relu", [](double x) { return x > 0 ? x : 0.0; }, -9, 9},
    {"sign", [](double x) { return x > 0   ? 1.0
                                   : x < 0 ? -1.0
                                           : 0.0; }, -9, 9},
};

TEST(UnaryTest, FloatFunctions) {
  for (const Case &c : kMath)
    for (DType dtype : kFloats) {
      SCOPED_TRACE(std::string(c.op) + " " + std::string(dtypeName(dtype)));
      Values points;
      for (int i = 0; i <= 42; ++i)
        points.push_back(c.low + (c.high - c.low) * i / 42);
      const Tensor in = make(dtype, {43}, points);
      Values expected;
      for (double x : values(in))
        expected.push_back(c.expected(x));
      expectValues(Op(c.op).run({in}, in.type()), expected);
    }
}

TEST(UnaryTest, GeluByTanh) {
  const Tensor in = make(DType::F32, {5}, {-3, -1, 0, 0.5, 2});
  Values expected;
  for (double x : values(in))
    expected.push_back(
        0.5 * x *
        (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))));
  expectValues(Op("gelu").attr("tanh_approximation", true).run({in}, in.type()),
               expected);
}

TEST(UnaryTest, SpecialValues) {
  const Tensor in = make(DType::F32, {6}, {kNan, kInf, -kInf, 200, -200, -0.0});
  const auto run = [&](const char *op) { return Op(op).run({in}, in.type()); };
  expectValues(run("relu"), {kNan, kInf, 0, 200, 0, 0});
  expectValues(run("sign"), {kNan, 1, -1, 1, -1, 0});
  expectValues(run("abs"), {kNan, kInf, kInf, 200, 200, 0});
  expectValues(run("sigmoid"), {kNan, 1, 0, 1, 0, 0.5});
  expectValues(run("softplus"), {kNan, kInf, 0, 200, 0, std::log(2)});
  expectValues(run("silu"), {kNan, kInf, kNan, 200, 0, 0});
  expectValues(run("exp"), {kNan, kInf, 0, kInf, 0, 1});
  expectValues(run("rsqrt"), {kNan, 0, kNan, 1 / std::sqrt(200), kNan, -kInf});
  expectValues(Op("round").run({make(DType::F64, {6},
                                     {0.5, 1.5, 2.5, -0.5, -1.5, 2.500001})},
                               {DType::F64, {6}}),
               {0, 2, 2, 0, -2, 3});
}

TEST(UnaryTest, Integers) {
  for (DType dtype : kInts) {
    SCOPED_TRACE(dtypeName(dtype));
    const bool isSigned = isSignedInt(dtype);
    const TensorType type{dtype, {3}};
    const Tensor in = make(dtype, {3}, {5, 0, isSigned ? -7.0 : 7.0});
    expectValues(Op("abs").run({in}, type), {5, 0, 7});
    expectValues(Op("relu").run({in}, type), {5, 0, isSigned ? 0.0 : 7.0});
    expectValues(Op("sign").run({in}, type), {1, 0, isSigned ? -1.0 : 1.0});
    const double wrap = std::ldexp(1.0, static_cast<int>(8 * byteSize(dtype)));
    expectValues(Op("neg").run({in}, type),
                 {isSigned ? -5.0 : wrap - 5, 0, isSigned ? 7.0 : wrap - 7});
    expectValues(Op("bitwise_not").run({in}, type),
                 {isSigned ? -6.0 : wrap - 6, isSigned ? -1.0 : wrap - 1,
                  isSigned ? 6.0 : wrap - 8});
    if (isSigned)
      expectValues(Op("abs").run({make(dtype, {1}, {-wrap / 2})}, {dtype, {1}}),
                   {-wrap / 2});
  }
}

TEST(UnaryTest, Predicates) {
  for (DType dtype : kFloats) {
    const Tensor in = make(dtype, {4}, {kNan, kInf, -kInf, 1});
    const TensorType result{DType::Bool, {4}};
    expectValues(Op("is_nan").run({in}, result), {1, 0, 0, 0});
    expectValues(Op("is_inf").run({in}, result), {0, 1, 1, 0});
    expectValues(Op("is_inf").attr("detect_negative", false).run({in}, result),
                 {0, 1, 0, 0});
    expectValues(Op("is_inf").attr("detect_positive", false).run({in}, result),
                 {0, 0, 1, 0});
    expectValues(Op("is_inf")
                     .attr("detect_positive", false)
                     .attr("detect_negative", false)
                     .run({in}, result),
                 {0, 0, 0, 0});
  }
}

TEST(UnaryTest, NotTakesAnyByteAsTrue) {
  Tensor in = make(DType::Bool, {3}, {1, 0, 1});
  in.as<uint8_t>()[2] = 77;
  expectValues(Op("not").run({in}, in.type()), {0, 1, 0});
}

TEST(UnaryTest, ScalarsAndEmptyTensors) {
  expectValues(Op("exp").run({make(DType::F32, {}, {0})}, {DType::F32, {}}),
               {1});
  expectValues(
      Op("exp").run({make(DType::F32, {2, 0}, {})}, {DType::F32, {2, 0}}), {});
}

} // namespace
