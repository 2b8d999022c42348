// Tensor types and tensors: sizes that overflow, empty shapes, ownership.
#include "pipec/tensor.h"

#include <gtest/gtest.h>
#include <limits>

using namespace pipec;

// The sanitizers' allocators shall say that memory ran out, as the system's
// does; other builds never call these.
extern "C" const char *__tsan_default_options();
extern "C" const char *__tsan_default_options() {
  return "allocator_may_return_null=1";
}
extern "C" const char *__asan_default_options();
extern "C" const char *__asan_default_options() {
  return "allocator_may_return_null=1";
}

namespace {

TEST(TensorTest, TypeText) {
  EXPECT_EQ((TensorType{DType::F32, {2, 3}}.str()), "f32[2x3]");
  EXPECT_EQ((TensorType{DType::I64, {}}.str()), "i64[]");
  EXPECT_EQ((TensorType{DType::I64, {}}.numElements()), 1);
  EXPECT_EQ((TensorType{DType::U16, {4, 0}}.byteSize()), 0u);
  EXPECT_NE((TensorType{DType::F32, {2}}), (TensorType{DType::F32, {2, 1}}));
}

TEST(TensorTest, CheckedByteSize) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(*checkedByteSize({DType::F64, {3, 5}}), 120u);
  EXPECT_EQ(*checkedByteSize({DType::F64, {}}), 8u);
  EXPECT_EQ(*checkedByteSize({DType::U8, {int64_t(1) << 62}}), size_t(1) << 62);
  EXPECT_EQ(*checkedByteSize({DType::F32, {0, 7}}), 0u);
  for (const TensorType &type :
       {TensorType{DType::U8, {(int64_t(1) << 62) + 1}},
        TensorType{DType::F32, {most}},
        TensorType{DType::F32, {most, most, most}},
        TensorType{DType::F32, {0, most, most}}, TensorType{DType::F32, {-1}},
        TensorType{DType::F32, {0, -5}},
        TensorType{DType::F32, {std::numeric_limits<int64_t>::min()}},
        TensorType{static_cast<DType>(0), {1}},
        TensorType{static_cast<DType>(77), {1}}})
    EXPECT_FALSE(checkedByteSize(type).ok()) << type.str();
}

TEST(TensorTest, AllocateAlignsAndShares) {
  StatusOr<Tensor> tensor = Tensor::allocate({DType::F32, {3, 5}});
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor->data()) % 64, 0u);
  Tensor alias = *tensor;
  tensor->as<float>()[14] = 7;
  EXPECT_EQ(alias.as<float>()[14], 7);
  EXPECT_EQ(
      Tensor::allocate({DType::F32, {int64_t(1) << 60}}).status().getCode(),
      StatusCode::ResourceExhausted);
  EXPECT_EQ(Tensor::allocate({DType::F32, {-2}}).status().getCode(),
            StatusCode::InvalidArgument);
}

TEST(TensorTest, EmptyTensorsHaveAnAddress) {
  StatusOr<Tensor> tensor = Tensor::copyOf({DType::F32, {0}}, nullptr);
  ASSERT_TRUE(tensor.ok());
  EXPECT_FALSE(tensor->empty());
  EXPECT_TRUE(Tensor().empty());
}

TEST(TensorTest, WrapKeepsTheOwnerAlive) {
  auto owner =
      std::make_shared<std::vector<int32_t>>(std::vector<int32_t>{4, 5});
  std::weak_ptr<std::vector<int32_t>> watch = owner;
  Tensor tensor = Tensor::wrap({DType::I32, {2}}, owner->data(), owner);
  owner.reset();
  EXPECT_EQ(tensor.as<int32_t>()[1], 5);
  tensor = Tensor();
  EXPECT_TRUE(watch.expired());
}

} // namespace
