// The constant pool: sharing of equal contents, bounds, lifetime of bytes.
#include "ir/PipeDialect.h"

#include <gtest/gtest.h>

using namespace pipec;
using pipec::pipe::ConstantPool;

static Tensor ints(std::vector<int32_t> values) {
  TensorType type{DType::I32, {static_cast<int64_t>(values.size())}};
  return *Tensor::copyOf(type, values.data());
}

TEST(ConstantPool, SharesEqualContents) {
  ConstantPool pool;
  uint64_t first = pool.add(ints({1, 2}));
  uint64_t second = pool.add(ints({1, 3}));
  EXPECT_NE(first, second);
  EXPECT_EQ(first % 64, 0u);
  EXPECT_EQ(second % 64, 0u);
  EXPECT_EQ(pool.add(ints({1, 2})), first);
}

TEST(ConstantPool, KeepsEmptyPiecesApart) {
  ConstantPool pool;
  uint64_t empty = pool.add(ints({}));
  uint64_t full = pool.add(ints({1}));
  EXPECT_NE(empty, full);
  EXPECT_EQ(pool.add(ints({})), empty);
}

TEST(ConstantPool, FindsPrefixesOnly) {
  ConstantPool pool;
  uint64_t offset = pool.add(ints({1, 2}));
  ASSERT_NE(pool.find(offset, 8), nullptr);
  EXPECT_NE(pool.find(offset, 4), nullptr);
  EXPECT_EQ(pool.find(offset, 9), nullptr);
  EXPECT_EQ(pool.find(offset + 4, 4), nullptr);
  EXPECT_EQ(pool.find(offset + 64, 1), nullptr);
  EXPECT_EQ(static_cast<const int32_t *>(pool.find(offset, 8))[1], 2);
}

TEST(ConstantPool, GivesTensorsOfAnotherType) {
  ConstantPool pool;
  uint64_t offset = pool.add(ints({1, 2}));
  StatusOr<Tensor> wide = pool.tensor(offset, {DType::I64, {}});
  ASSERT_TRUE(wide.ok());
  EXPECT_EQ(wide->as<int64_t>()[0], (int64_t(2) << 32) + 1);
  StatusOr<Tensor> large = pool.tensor(offset, {DType::I64, {2}});
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.status().getCode(), StatusCode::DataLoss);
  EXPECT_FALSE(pool.tensor(7, {DType::I8, {1}}).ok());
  EXPECT_FALSE(pool.tensor(offset, {DType::I8, {-1}}).ok());
}

TEST(ConstantPool, TensorsOutliveThePool) {
  Tensor kept;
  {
    ConstantPool pool;
    kept = *pool.tensor(pool.add(ints({4, 5})), {DType::I32, {2}});
  }
  EXPECT_EQ(kept.as<int32_t>()[1], 5);
}

TEST(ConstantPool, BelongsToAContext) {
  mlir::MLIRContext first, second;
  EXPECT_NE(&ConstantPool::get(&first), &ConstantPool::get(&second));
  EXPECT_EQ(&ConstantPool::get(&first), &ConstantPool::get(&first));
}
