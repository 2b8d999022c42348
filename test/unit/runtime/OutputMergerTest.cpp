// Merges: values, rounding, wrapping, and what is refused before a run.
#include "runtime/executor/output_merger.h"
#include "test/unit/runtime/TestSession.h"

namespace pipec::test {
namespace {

struct Merged {
  Merged(Merge merge, std::vector<TensorType> types,
         std::vector<size_t> variants) {
    info.name = "y";
    info.merge = merge;
    info.types = std::move(types);
    for (size_t v : variants)
      plan.microbatches.push_back({v, 0});
  }
  Status check() { return OutputMerger::create(info, plan).status(); }
  StatusOr<Tensor> join(const std::vector<Tensor> &values) {
    PIPEC_ASSIGN_OR_RETURN(OutputMerger merger,
                           OutputMerger::create(info, plan));
    for (const Tensor &value : values)
      PIPEC_RETURN_IF_ERROR(merger.add(value.data()));
    return merger.finish();
  }
  OutputInfo info;
  BatchPlan plan;
};

template <typename T> Tensor scalar(DType dtype, T value) {
  return *Tensor::copyOf({dtype, {}}, &value);
}

TEST(OutputMergerTest, ConcatOfUnevenPieces) {
  Merged m(Merge::Concat, {{DType::F32, {2, 1}}, {DType::F32, {1, 1}}},
           {0, 1, 1});
  auto y = m.join({f32({2, 1}, {1, 2}), f32({1, 1}, {3}), f32({1, 1}, {4})});
  ASSERT_TRUE(y.ok());
  EXPECT_EQ(y->shape(), (Shape{4, 1}));
  EXPECT_EQ(floats(*y), (std::vector<float>{1, 2, 3, 4}));
}

TEST(OutputMergerTest, ConcatRefusesWhatDoesNotJoin) {
  expectError(Merged(Merge::Concat, {{DType::F32, {}}}, {0, 0}).check(),
              StatusCode::InvalidArgument, "--merge y=concat|mean|sum|same");
  Merged m(Merge::Concat, {{DType::F32, {2, 1}}, {DType::F32, {1, 3}}}, {0, 1});
  expectError(m.check(), StatusCode::InvalidArgument, "f32[1x3]");
}

TEST(OutputMergerTest, OneMicrobatchIsPassedOn) {
  for (Merge merge : {Merge::Concat, Merge::Mean, Merge::Sum, Merge::Same,
                      Merge::Unspecified}) {
    auto y = Merged(merge, {{DType::I64, {}}}, {0})
                 .join({scalar<int64_t>(DType::I64, 5)});
    ASSERT_TRUE(y.ok()) << y.status().message();
    EXPECT_EQ(*y->as<int64_t>(), 5);
  }
}

TEST(OutputMergerTest, MeanAndSum) {
  std::vector<Tensor> values = {f32({2}, {1, 10}), f32({2}, {2, 20}),
                                f32({2}, {6, 60})};
  auto mean = Merged(Merge::Mean, {{DType::F32, {2}}}, {0, 0, 0}).join(values);
  auto sum = Merged(Merge::Sum, {{DType::F32, {2}}}, {0, 0, 0}).join(values);
  ASSERT_TRUE(mean.ok() && sum.ok());
  EXPECT_EQ(floats(*mean), (std::vector<float>{3, 30}));
  EXPECT_EQ(floats(*sum), (std::vector<float>{9, 90}));
}

TEST(OutputMergerTest, AMeanWeighsRows) {
  for (DType dtype : {DType::F32, DType::F64, DType::F16, DType::BF16}) {
    Merged m(Merge::Mean, {{dtype, {}}, {dtype, {}}}, {0, 0, 1});
    m.plan.microbatches[0].rows = m.plan.microbatches[1].rows = 2;
    m.plan.microbatches[2].rows = 1;
    auto value = [&](float v) {
      return dtype == DType::F32   ? scalar(dtype, v)
             : dtype == DType::F64 ? scalar(dtype, double(v))
             : dtype == DType::F16 ? scalar(dtype, floatToHalf(v))
                                   : scalar(dtype, floatToBfloat16(v));
    };
    auto y = m.join({value(1), value(2), value(4)});
    ASSERT_TRUE(y.ok());
    EXPECT_EQ(std::memcmp(y->data(), value(2).data(), byteSize(dtype)), 0);
  }
}

TEST(OutputMergerTest, SumsRunInMicrobatchOrder) {
  auto sum = Merged(Merge::Sum, {{DType::F32, {}}}, {0, 0, 0})
                 .join({scalar(DType::F32, 1e8f), scalar(DType::F32, -1e8f),
                        scalar(DType::F32, 1.0f)});
  ASSERT_TRUE(sum.ok());
  EXPECT_EQ(*sum->as<float>(), 1.0f);
}

TEST(OutputMergerTest, DoubleStaysDouble) {
  auto mean = Merged(Merge::Mean, {{DType::F64, {}}}, {0, 0})
                  .join({scalar(DType::F64, 1.0), scalar(DType::F64, 1e-9)});
  ASSERT_TRUE(mean.ok());
  EXPECT_EQ(*mean->as<double>(), (1.0 + 1e-9) / 2);
}

TEST(OutputMergerTest, HalvesRoundOnce) {
  const uint16_t big = floatToHalf(2048), one = floatToHalf(1);
  auto sum = Merged(Merge::Sum, {{DType::F16, {}}}, {0, 0, 0})
                 .join({scalar(DType::F16, big), scalar(DType::F16, one),
                        scalar(DType::F16, one)});
  ASSERT_TRUE(sum.ok());
  EXPECT_EQ(halfToFloat(*sum->as<uint16_t>()), 2050.0f);
  const uint16_t three = floatToBfloat16(3);
  auto mean =
      Merged(Merge::Mean, {{DType::BF16, {}}}, {0, 0})
          .join({scalar(DType::BF16, three), scalar(DType::BF16, three)});
  ASSERT_TRUE(mean.ok());
  EXPECT_EQ(bfloat16ToFloat(*mean->as<uint16_t>()), 3.0f);
}

TEST(OutputMergerTest, IntegersWrap) {
  auto sum = Merged(Merge::Sum, {{DType::I8, {}}}, {0, 0})
                 .join({scalar<int8_t>(DType::I8, 100),
                        scalar<int8_t>(DType::I8, 100)});
  ASSERT_TRUE(sum.ok());
  EXPECT_EQ(*sum->as<int8_t>(), -56);
  auto wide = Merged(Merge::Sum, {{DType::I64, {}}}, {0, 0})
                  .join({scalar<int64_t>(DType::I64, INT64_MAX),
                         scalar<int64_t>(DType::I64, 1)});
  ASSERT_TRUE(wide.ok());
  EXPECT_EQ(*wide->as<int64_t>(), INT64_MIN);
}

TEST(OutputMergerTest, RefusedBeforeTheRun) {
  expectError(Merged(Merge::Mean, {{DType::I64, {}}}, {0, 0}).check(),
              StatusCode::InvalidArgument, "no mean of i64[]");
  expectError(Merged(Merge::Sum, {{DType::Bool, {}}}, {0, 0}).check(),
              StatusCode::InvalidArgument, "no sum of bool[]");
  expectError(Merged(Merge::Unspecified, {{DType::F32, {}}}, {0, 0}).check(),
              StatusCode::InvalidArgument, "--merge y=concat|mean|sum|same");
  for (Merge merge : {Merge::Mean, Merge::Sum, Merge::Same})
    expectError(
        Merged(merge, {{DType::F32, {2}}, {DType::F32, {1}}}, {0, 1}).check(),
        StatusCode::InvalidArgument, "different types");
}

TEST(OutputMergerTest, Same) {
  Merged m(Merge::Same, {{DType::F32, {2}}}, {0, 0});
  auto y = m.join({f32({2}, {1, 2}), f32({2}, {1, 2})});
  ASSERT_TRUE(y.ok());
  EXPECT_EQ(floats(*y), (std::vector<float>{1, 2}));
  expectError(m.join({f32({2}, {1, 2}), f32({2}, {1, 3})}).status(),
              StatusCode::InvalidArgument, "microbatch 1");
}

} // namespace
} // namespace pipec::test
