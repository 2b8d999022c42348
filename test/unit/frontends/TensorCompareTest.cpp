// Comparison of stored tensors: every element counts, in all orders of their
// axes and over the borders of panels and tiles.
#include "frontends/common/TensorCompare.h"
#include "test/unit/frontends/ModelBuilder.h"

#include <gtest/gtest.h>

using namespace pipec;
using namespace pipec::frontend;

namespace {

template <typename T>
TensorSource source(const pipec::onnx::testing::ScratchFolder &folder,
                    DType dtype, int64_t rows, int64_t columns,
                    const std::vector<T> &values) {
  TensorSource made;
  made.type = {dtype, {rows, columns}};
  // Not aligned to the elements, as data in a model file need not be.
  std::string bytes(3, 'x');
  bytes.append(reinterpret_cast<const char *>(values.data()),
               values.size() * sizeof(T));
  static int count = 0;
  made.file =
      *MappedFile::open(folder.write("m" + std::to_string(count++), bytes));
  made.offset = 3;
  made.length = values.size() * sizeof(T);
  return made;
}

bool sameMatrix(const TensorSource &a, const TensorSource &b, bool transposed,
                const std::function<void()> &before = {}) {
  return samePermuted({a, a.type.shape},
                      transposed ? Permutation{1, 0} : Permutation{}, b,
                      before);
}

template <typename T> void check(DType dtype, int64_t rows, int64_t columns) {
  pipec::onnx::testing::ScratchFolder folder;
  std::vector<T> values(rows * columns), turned(rows * columns);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<T>(i * 7 + i / 251);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      turned[j * rows + i] = values[i * columns + j];
  const TensorSource a = source(folder, dtype, rows, columns, values);
  EXPECT_TRUE(
      sameMatrix(a, source(folder, dtype, rows, columns, values), false));
  EXPECT_TRUE(
      sameMatrix(a, source(folder, dtype, columns, rows, turned), true));
  for (size_t at : {size_t(0), values.size() / 3, values.size() - 1}) {
    std::vector<T> other = values, otherTurned = turned;
    other[at] ^= 1;
    otherTurned[at] ^= 1;
    EXPECT_FALSE(
        sameMatrix(a, source(folder, dtype, rows, columns, other), false));
    EXPECT_FALSE(
        sameMatrix(a, source(folder, dtype, columns, rows, otherTurned), true));
  }
}

TEST(TensorCompare, EveryElementCounts) {
  check<uint8_t>(DType::U8, 67, 300);
  check<uint16_t>(DType::F16, 1, 5);
  check<uint32_t>(DType::F32, 300, 67);
  check<uint64_t>(DType::F64, 17, 257);
}

TEST(TensorCompare, SeveralPanels) {
  // Rows of 256 KiB: a panel of 32 MiB holds 128 of them.
  check<uint32_t>(DType::F32, 200, 65536);
}

TEST(TensorCompare, TheSampleEndsItBeforeAllIsRead) {
  pipec::onnx::testing::ScratchFolder folder;
  const std::vector<uint32_t> ones(4096, 1), twos(4096, 2);
  bool all = false;
  EXPECT_FALSE(sameMatrix(source(folder, DType::F32, 64, 64, ones),
                          source(folder, DType::F32, 64, 64, twos), true,
                          [&] { all = true; }));
  EXPECT_FALSE(all);
  EXPECT_TRUE(sameMatrix(source(folder, DType::F32, 64, 64, ones),
                         source(folder, DType::F32, 64, 64, ones), true,
                         [&] { all = true; }));
  EXPECT_TRUE(all);
}

/// [2, 1, 3, 4] with its axes in another order.
TEST(TensorCompare, AllOrdersOfAxes) {
  pipec::onnx::testing::ScratchFolder folder;
  std::vector<uint32_t> values(24), moved(24);
  for (uint32_t i = 0; i < 24; ++i)
    values[i] = i;
  size_t at = 0; // axes 3, 0, 2
  for (uint32_t d = 0; d < 4; ++d)
    for (uint32_t a = 0; a < 2; ++a)
      for (uint32_t c = 0; c < 3; ++c)
        moved[at++] = a * 12 + c * 4 + d;
  TensorSource from = source(folder, DType::F32, 24, 1, values);
  const TensorSource to = source(folder, DType::F32, 4, 6, moved);
  const StoredTensor stored{from, {2, 1, 3, 4}};
  EXPECT_TRUE(samePermuted(stored, {3, 0, 1, 2}, to));
  EXPECT_TRUE(samePermuted(stored, {3, 1, 0, 2}, to)); // the 1 is nowhere
  EXPECT_FALSE(samePermuted(stored, {3, 2, 1, 0}, to));
  EXPECT_FALSE(samePermuted(stored, {}, to));
  EXPECT_EQ(permutationsTo(stored, to, {}).size(), 1u);
  EXPECT_EQ(permutationsTo(stored, from, {}),
            (std::vector<Permutation>{Permutation{}}));
}

TEST(TensorCompare, EqualElementsProveNoOrder) {
  pipec::onnx::testing::ScratchFolder folder;
  const std::vector<uint32_t> zeros(24);
  const TensorSource tensor = source(folder, DType::F32, 4, 6, zeros);
  EXPECT_EQ(permutationsTo({tensor, {4, 6}}, tensor, {}).size(), 2u);
  EXPECT_EQ(permutationsTo({tensor, {24}}, tensor, {}).size(), 1u);
  EXPECT_FALSE(isDistinctive(tensor));
}

TEST(TensorCompare, DistinctiveTensorsHaveManyValues) {
  pipec::onnx::testing::ScratchFolder folder;
  std::vector<uint32_t> values(12);
  for (uint32_t i = 0; i < 12; ++i)
    values[i] = i % 7;
  EXPECT_FALSE(isDistinctive(source(folder, DType::F32, 3, 4, values)));
  values[3] = 99;
  EXPECT_TRUE(isDistinctive(source(folder, DType::F32, 3, 4, values)));
  EXPECT_TRUE(isDistinctive(
      source(folder, DType::F32, 2, 2, std::vector<uint32_t>{1, 2, 3, 4})));
  EXPECT_FALSE(isDistinctive(
      source(folder, DType::F32, 1, 3, std::vector<uint32_t>{1, 2, 3})));
}

} // namespace
