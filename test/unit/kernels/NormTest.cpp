// softmax, log_softmax and the four normalisations against f64 formulas.
#include "test/unit/kernels/KernelTest.h"

#include <cmath>
#include <functional>
#include <limits>

using namespace pipec;
using namespace pipec::test;

namespace {

const double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

double meanOf(const Values &x, const std::function<double(double)> &f) {
  double sum = 0;
  for (double v : x)
    sum += f(v);
  return sum / static_cast<double>(x.size());
}

TEST(NormTest, Softmax) {
  const Shape shape = {3, 19, 2};
  for (DType dtype : kFloats)
    for (int64_t dim = 0; dim < 3; ++dim) {
      const Tensor in = random(dtype, shape, 1, 4);
      const Values x = values(in);
      Values soft, log;
      const int64_t inner = dim == 0 ? 38 : dim == 1 ? 2 : 1, n = shape[dim];
      for (int64_t i = 0; i < 114; ++i) {
        const int64_t first = i / (n * inner) * n * inner + i % inner;
        double sum = 0;
        for (int64_t j = 0; j < n; ++j)
          sum += std::exp(x[first + j * inner]);
        soft.push_back(std::exp(x[i]) / sum);
        log.push_back(x[i] - std::log(sum));
      }
      expectValues(Op("softmax").attr("dim", dim).run({in}, in.type()), soft);
      expectValues(Op("log_softmax").attr("dim", dim).run({in}, in.type()), log,
                   4);
    }
}

TEST(NormTest, SoftmaxEdges) {
  const Tensor in =
      make(DType::F32, {4, 2}, {1000, 1000, -kInf, 0, -kInf, -kInf, kNan, 0});
  expectValues(Op("softmax").attr("dim", int64_t(1)).run({in}, in.type()),
               {0.5, 0.5, 0, 1, kNan, kNan, kNan, kNan});
  expectValues(Op("log_softmax").attr("dim", int64_t(1)).run({in}, in.type()),
               {-std::log(2), -std::log(2), -kInf, 0, kNan, kNan, kNan, kNan});
  expectValues(Op("softmax")
                   .attr("dim", int64_t(1))
                   .run({make(DType::F32, {2, 0}, {})}, {DType::F32, {2, 0}}),
               {});
  expectValues(Op("softmax")
                   .attr("dim", int64_t(0))
                   .run({make(DType::F32, {1}, {7})}, {DType::F32, {1}}),
               {1});
}

struct Row {
  double mean, factor;
};

Row rowOf(const Values &x, double epsilon, bool rms) {
  const double mean = rms ? 0 : meanOf(x, [](double v) { return v; });
  return {mean,
          1 / std::sqrt(
                  meanOf(x, [&](double v) { return (v - mean) * (v - mean); }) +
                  epsilon)};
}

TEST(NormTest, LayerAndRmsNorm) {
  for (DType dtype : kFloats)
    for (bool rms : {false, true})
      for (int64_t axis : {0, 1, 2})
        for (const std::string operands :
             {"operand", "operand,scale", "operand,scale,bias",
              "operand,bias"}) {
          if (rms && operands.find("bias") != std::string::npos)
            continue;
          SCOPED_TRACE(operands + std::string(dtypeName(dtype)) +
                       std::to_string(axis));
          const Shape shape = {2, 3, 13},
                      part(shape.begin() + axis, shape.end());
          const Tensor in = random(dtype, shape, 1),
                       scale = random(dtype, part, 2),
                       bias = random(dtype, part, 3);
          std::vector<Tensor> inputs = {in};
          const bool scaled = operands.find("scale") != std::string::npos,
                     shifted = operands.find("bias") != std::string::npos;
          if (scaled)
            inputs.push_back(scale);
          if (shifted)
            inputs.push_back(bias);
          const Values x = values(in), s = values(scale), b = values(bias);
          Values expected;
          const size_t n = s.size();
          for (size_t i = 0; i < x.size(); ++i) {
            const size_t first = i / n * n;
            const Row row = rowOf(
                Values(x.begin() + first, x.begin() + first + n), 1e-3, rms);
            expected.push_back((x[i] - row.mean) * row.factor *
                                   (scaled ? s[i - first] : 1) +
                               (shifted ? b[i - first] : 0));
          }
          Op op = Op(rms ? "rms_norm" : "layer_norm")
                      .attr("axis", axis)
                      .attr("epsilon", 1e-3)
                      .attr("operands", operands);
          expectValues(op.run(inputs, in.type()), expected, 8);
        }
}

TEST(NormTest, LayerNormOfLargeOffsets) {
  // The variance is of deviations, not of squares: an offset of 10000 costs
  // nothing.
  const Tensor in = make(DType::F32, {1, 4}, {10000, 10001, 10002, 10003});
  Op op = Op("layer_norm").attr("axis", int64_t(1)).attr("epsilon", 0.0);
  const double f = 1 / std::sqrt(1.25);
  expectValues(op.run({in}, in.type()), {-1.5 * f, -0.5 * f, 0.5 * f, 1.5 * f});
}

TEST(NormTest, ParametersMayBeOfAnotherFloatType) {
  const Tensor in = make(DType::F16, {1, 2}, {1, 3});
  Op op = Op("layer_norm").attr("axis", int64_t(1)).attr("epsilon", 0.0);
  expectValues(
      op.run({in, make(DType::F32, {2}, {2, 3}), make(DType::F64, {2}, {1, 1})},
             in.type()),
      {-1, 4});
}

TEST(NormTest, GroupNorm) {
  for (DType dtype : kFloats)
    for (int64_t groups : {1, 2, 6})
      for (const Shape &shape :
           {Shape{2, 6, 3, 5}, Shape{2, 6}, Shape{1, 6, 7}}) {
        if (shape.size() == 2 && groups == 6)
          continue;
        const Tensor in = random(dtype, shape, 1),
                     scale = random(dtype, {6}, 2),
                     bias = random(dtype, {6}, 3);
        const Values x = values(in), s = values(scale), b = values(bias);
        const size_t spatial = x.size() / 6 / shape[0],
                     n = 6 / groups * spatial;
        Values expected;
        for (size_t i = 0; i < x.size(); ++i) {
          const Row row =
              rowOf(Values(x.begin() + i / n * n, x.begin() + i / n * n + n),
                    1e-3, false);
          const size_t channel = i / spatial % 6;
          expected.push_back((x[i] - row.mean) * row.factor * s[channel] +
                             b[channel]);
        }
        Op op = Op("group_norm").attr("groups", groups).attr("epsilon", 1e-3);
        expectValues(op.run({in, scale, bias}, in.type()), expected, 8);
      }
  const Tensor in = make(DType::F32, {1, 2, 2}, {1, 3, 5, 5});
  Op op = Op("group_norm")
              .attr("groups", int64_t(2))
              .attr("epsilon", 1.0)
              .attr("operands", std::string("operand"));
  const double f = 1 / std::sqrt(2.0);
  expectValues(op.run({in}, in.type()), {-f, f, 0, 0});
  expectValues(
      Op("group_norm")
          .attr("groups", int64_t(1))
          .attr("epsilon", 1.0)
          .run({make(DType::F32, {2, 3, 0}, {})}, {DType::F32, {2, 3, 0}}),
      {});
}

TEST(NormTest, BatchNorm) {
  for (DType dtype : kFloats)
    for (const Shape &shape : {Shape{2, 3, 2, 2}, Shape{4, 3}}) {
      const Tensor in = random(dtype, shape, 1),
                   scale = make(dtype, {3}, {1, 2, -1}),
                   bias = make(dtype, {3}, {0, 1, 0.5});
      const Tensor mean = make(dtype, {3}, {0.5, 0, -1}),
                   variance = make(dtype, {3}, {1, 0.25, 4});
      const Values x = values(in), s = values(scale), b = values(bias),
                   m = values(mean), v = values(variance);
      const size_t spatial = x.size() / 3 / shape[0];
      Values expected;
      for (size_t i = 0; i < x.size(); ++i) {
        const size_t c = i / spatial % 3;
        expected.push_back((x[i] - m[c]) / std::sqrt(v[c] + 1e-3) * s[c] +
                           b[c]);
      }
      expectValues(Op("batch_norm")
                       .attr("epsilon", 1e-3)
                       .run({in, scale, bias, mean, variance}, in.type()),
                   expected, 4);
    }
}

} // namespace
