// Comparison of stored matrices: every element counts, in both orientations and
// over the borders of panels and tiles.
#include "frontends/onnx/MatrixCompare.h"
#include "test/unit/frontends/ModelBuilder.h"

#include <gtest/gtest.h>

using namespace pipec;
using namespace pipec::onnx;

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

TEST(MatrixCompare, EveryElementCounts) {
  check<uint8_t>(DType::U8, 67, 300);
  check<uint16_t>(DType::F16, 1, 5);
  check<uint32_t>(DType::F32, 300, 67);
  check<uint64_t>(DType::F64, 17, 257);
}

TEST(MatrixCompare, SeveralPanels) {
  // Rows of 256 KiB: a panel of 32 MiB holds 128 of them.
  check<uint32_t>(DType::F32, 200, 65536);
}

TEST(MatrixCompare, TheSampleEndsItBeforeAllIsRead) {
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

} // namespace
