// cross_entropy and its gradient against f64 formulas; labels and edges.
#include "test/unit/kernels/KernelTest.h"

#include <cmath>
#include <limits>

using namespace pipec;
using namespace pipec::test;

namespace {

const double kInf = std::numeric_limits<double>::infinity();

Op crossEntropy(int64_t ignore = -100, double smoothing = 0,
                const char *name = "cross_entropy") {
  return Op(name)
      .attr("ignore_index", ignore)
      .attr("label_smoothing", smoothing);
}

struct Reference {
  double loss = 0;
  Values gradient; // of the loss
};

// By the definition, unlike the kernel: probabilities first.
Reference reference(const Values &logits, const Values &labels, int64_t classes,
                    int64_t ignore, double smoothing) {
  Reference result;
  for (size_t row = 0; row < labels.size(); ++row) {
    const double *x = logits.data() + row * classes;
    double sum = 0;
    for (int64_t c = 0; c < classes; ++c)
      sum += std::exp(x[c]);
    for (int64_t c = 0; c < classes; ++c) {
      const double p = std::exp(x[c]) / sum;
      const double target = smoothing / static_cast<double>(classes) +
                            (c == labels[row] ? 1 - smoothing : 0);
      const bool counts = labels[row] != static_cast<double>(ignore);
      result.loss += counts ? -target * std::log(p) : 0;
      result.gradient.push_back(counts ? p - target : 0);
    }
  }
  return result;
}

TEST(CrossEntropyTest, EveryTypeAgainstTheDefinition) {
  const Values labels = {0, 6, 3, 2, 3, 5};
  for (DType dtype : kFloats)
    for (DType index : {DType::I32, DType::I64})
      for (double smoothing : {0.0, 0.1, 1.0})
        for (int64_t ignore : {-100, 3}) {
          const Tensor logits = random(dtype, {2, 3, 7}, 11, 3),
                       at = make(index, {2, 3}, labels),
                       grad = make(dtype, {}, {0.5});
          const Reference expected =
              reference(values(logits), labels, 7, ignore, smoothing);
          expectValues(
              crossEntropy(ignore, smoothing).run({logits, at}, {dtype, {}}),
              {expected.loss}, 4);
          Values scaled;
          for (double g : expected.gradient)
            scaled.push_back(g / 2);
          expectValues(crossEntropy(ignore, smoothing, "cross_entropy_grad")
                           .run({logits, at, grad}, logits.type()),
                       scaled, 8);
        }
}

TEST(CrossEntropyTest, LargeAndInfiniteLogits) {
  const Tensor logits = make(DType::F32, {3, 2}, {1e4, 0, 0, 1e4, -kInf, 2}),
               labels = make(DType::I64, {3}, {0, 0, 1}),
               one = make(DType::F32, {}, {1});
  expectValues(crossEntropy().run({logits, labels}, {DType::F32, {}}), {1e4});
  expectValues(crossEntropy(-100, 0, "cross_entropy_grad")
                   .run({logits, labels, one}, logits.type()),
               {0, 0, -1, 1, 0, 0});
}

TEST(CrossEntropyTest, RowsAreAddedInF64) {
  // 2^16 rows of log 2 in f32: a sum in f32 would be off in the fourth digit.
  const int64_t rows = 1 << 16;
  const Tensor logits = make(DType::F32, {rows, 2}, Values(2 * rows, 0)),
               labels = make(DType::I64, {rows}, Values(rows, 1));
  const Values loss =
      values(crossEntropy().run({logits, labels}, {DType::F32, {}}));
  const double expected =
      static_cast<double>(rows) * static_cast<double>(std::log(2.0f));
  EXPECT_NEAR(loss[0], expected, expected * 1e-6);
}

TEST(CrossEntropyTest, NothingToCount) {
  const Tensor one = make(DType::F32, {}, {1});
  const Tensor logits = make(DType::F32, {2, 2}, {1, 2, 3, 4}),
               ignored = make(DType::I64, {2}, {-100, -100});
  expectValues(crossEntropy().run({logits, ignored}, {DType::F32, {}}), {0});
  expectValues(crossEntropy(-100, 0, "cross_entropy_grad")
                   .run({logits, ignored, one}, logits.type()),
               {0, 0, 0, 0});
  const Tensor none = make(DType::F32, {0, 3}, {}),
               noLabels = make(DType::I64, {0}, {});
  expectValues(crossEntropy().run({none, noLabels}, {DType::F32, {}}), {0});
  expectValues(crossEntropy(-100, 0, "cross_entropy_grad")
                   .run({none, noLabels, one}, none.type()),
               {});
  // One row without leading dimensions.
  expectValues(crossEntropy().run(
                   {make(DType::F32, {2}, {0, 0}), make(DType::I64, {}, {1})},
                   {DType::F32, {}}),
               {std::log(2)});
}

TEST(CrossEntropyTest, LabelsOutOfRangeAreErrors) {
  const Tensor logits = make(DType::F32, {2, 3}, Values(6, 0)),
               one = make(DType::F32, {}, {1});
  for (double bad : {3.0, -1.0, 1e12})
    for (bool grad : {false, true}) {
      Op op =
          crossEntropy(-100, 0, grad ? "cross_entropy_grad" : "cross_entropy");
      std::vector<Tensor> inputs = {logits, make(DType::I64, {2}, {0, bad})};
      if (grad)
        inputs.push_back(one);
      StatusOr<std::vector<Tensor>> result = op.from("head").tryRun(
          inputs, {grad ? logits.type() : TensorType{DType::F32, {}}});
      ASSERT_FALSE(result.ok());
      const std::string message(result.status().message());
      EXPECT_NE(message.find("of row 1 is out of range: expected 0 to 2"),
                std::string::npos)
          << message;
      EXPECT_NE(message.find("head"), std::string::npos) << message;
    }
}

TEST(CrossEntropyTest, Refused) {
  const TensorType logits{DType::F32, {2, 3}}, labels{DType::I64, {2}},
      scalar{DType::F32, {}};
  expectRefused(crossEntropy(), {scalar, labels}, {scalar}, "no classes");
  expectRefused(crossEntropy(-100, 1.5), {logits, labels}, {scalar},
                "label_smoothing must be from 0 to 1");
  expectRefused(crossEntropy(-100, std::nan("")), {logits, labels}, {scalar},
                "label_smoothing must be from 0 to 1");
  expectRefused(crossEntropy(), {logits, {DType::U8, {2}}}, {scalar},
                "expected i32 or i64");
  expectRefused(crossEntropy(), {logits, {DType::I64, {3}}}, {scalar});
  expectRefused(crossEntropy(-100, 0, "cross_entropy_grad"),
                {logits, labels, {DType::F64, {}}}, {logits},
                "differ in element type");
  expectRefused(crossEntropy(-100, 0, "cross_entropy_grad"),
                {logits, labels, {DType::F32, {2}}}, {logits});
}

} // namespace
