// See MatrixCompare.h. A transposed matrix is copied panel by panel, a few
// hundred rows of the one against as many columns of the other, so that each
// page is read about once.
#include "frontends/onnx/MatrixCompare.h"

#include <algorithm>
#include <cstring>

namespace pipec::onnx {
namespace {

/// Bytes that are mapped or copied at once, of each matrix.
constexpr uint64_t kPanelBytes = 32 << 20;
constexpr int64_t kSamples = 256;

/// A matrix as it lies: bytes, and the file whose pages they are.
class Stored {
public:
  explicit Stored(const TensorSource &source) : source(source) {
    if (source.inFile()) {
      auto range = source.file->range(source.offset, source.length);
      bytes = range.ok() ? *range : nullptr;
    } else {
      bytes = static_cast<const uint8_t *>(source.inlined.data());
    }
  }
  const uint8_t *at(uint64_t offset) const { return bytes + offset; }
  bool isThere() const { return bytes != nullptr; }
  void release(uint64_t offset, uint64_t count) const {
    if (source.inFile())
      source.file->release(source.offset + offset, count);
  }
  void releaseAll() const { release(0, source.type.byteSize()); }

private:
  const TensorSource &source;
  const uint8_t *bytes = nullptr;
};

struct Comparison {
  Stored a, b;
  int64_t rows, columns; // of a
  size_t width;          // bytes of an element
  bool transposed;

  uint64_t offsetInA(int64_t i, int64_t j) const {
    return static_cast<uint64_t>(i * columns + j) * width;
  }
  uint64_t offsetInB(int64_t i, int64_t j) const {
    return transposed ? static_cast<uint64_t>(j * rows + i) * width
                      : offsetInA(i, j);
  }
  bool sampleDiffers() const;
  bool sameInPlace() const;
  bool sameTransposed() const;
  void copyPanel(int64_t i0, int64_t i1, uint64_t stride,
                 std::vector<uint8_t> &panel) const;
};

/// Positions all over the matrix; padding rows and zeros at its ends say
/// little.
bool Comparison::sampleDiffers() const {
  uint64_t state = 0x9e3779b97f4a7c15;
  bool differs = false;
  for (int64_t k = 0; k < kSamples && !differs; ++k) {
    state = state * 6364136223846793005 + 1442695040888963407;
    const int64_t i = static_cast<int64_t>((state >> 33) % rows);
    state = state * 6364136223846793005 + 1442695040888963407;
    const int64_t j = static_cast<int64_t>((state >> 33) % columns);
    differs =
        std::memcmp(a.at(offsetInA(i, j)), b.at(offsetInB(i, j)), width) != 0;
  }
  a.releaseAll();
  b.releaseAll();
  return differs;
}

bool Comparison::sameInPlace() const {
  const uint64_t total = offsetInA(rows, 0);
  for (uint64_t at = 0; at < total; at += kPanelBytes) {
    const uint64_t count = std::min(kPanelBytes, total - at);
    const bool same = std::memcmp(a.at(at), b.at(at), count) == 0;
    a.release(at, count);
    b.release(at, count);
    if (!same)
      return false;
  }
  return true;
}

/// Columns [i0, i1) of b, which are rows of a; a row of the panel is `stride`
/// bytes.
void Comparison::copyPanel(int64_t i0, int64_t i1, uint64_t stride,
                           std::vector<uint8_t> &panel) const {
  // A fault maps the pages around, too, so they go in time.
  constexpr int64_t kRowsMapped = 128;
  for (int64_t j0 = 0; j0 < columns; j0 += kRowsMapped) {
    const int64_t j1 = std::min(j0 + kRowsMapped, columns);
    for (int64_t j = j0; j < j1; ++j)
      std::memcpy(panel.data() + j * stride, b.at(offsetInB(i0, j)),
                  static_cast<uint64_t>(i1 - i0) * width);
    b.release(offsetInB(0, j0), offsetInB(0, j1) - offsetInB(0, j0));
  }
}

/// Whether row [j0, j1) of a is the column of the panel. Without an early end,
/// so that the loop is the cheap kind.
template <typename Word>
bool sameRow(const uint8_t *row, const uint8_t *column, uint64_t stride,
             int64_t count) {
  Word difference = 0;
  for (int64_t j = 0; j < count; ++j) {
    Word x, y;
    std::memcpy(&x, row + j * sizeof(Word), sizeof(Word));
    std::memcpy(&y, column + j * stride, sizeof(Word));
    difference |= x ^ y;
  }
  return difference == 0;
}

using RowCompare = bool (*)(const uint8_t *, const uint8_t *, uint64_t,
                            int64_t);

RowCompare rowCompareOf(size_t width) {
  return width == 1   ? sameRow<uint8_t>
         : width == 2 ? sameRow<uint16_t>
         : width == 4 ? sameRow<uint32_t>
                      : sameRow<uint64_t>;
}

bool Comparison::sameTransposed() const {
  // A cache line of columns, and so many rows of the panel as the cache holds.
  constexpr int64_t kTileColumns = 256;
  const int64_t tileRows = 64 / static_cast<int64_t>(width);
  const int64_t panelRows = std::max<int64_t>(
      tileRows, static_cast<int64_t>(kPanelBytes / offsetInA(1, 0)));
  // Rows a power of two apart would share few cache sets.
  const uint64_t stride =
      static_cast<uint64_t>(std::min(panelRows, rows)) * width + 64;
  std::vector<uint8_t> panel(stride * static_cast<uint64_t>(columns));
  const RowCompare sameElements = rowCompareOf(width);
  for (int64_t i0 = 0; i0 < rows; i0 += panelRows) {
    const int64_t i1 = std::min(i0 + panelRows, rows);
    copyPanel(i0, i1, stride, panel);
    bool same = true;
    for (int64_t i = i0; i < i1 && same; i += tileRows)
      for (int64_t j = 0; j < columns && same; j += kTileColumns)
        for (int64_t r = i; r < std::min(i + tileRows, i1); ++r)
          same &= sameElements(a.at(offsetInA(r, j)),
                               panel.data() + j * stride + (r - i0) * width,
                               stride, std::min(kTileColumns, columns - j));
    a.release(offsetInA(i0, 0), offsetInA(i1 - i0, 0));
    if (!same)
      return false;
  }
  return true;
}

} // namespace

bool sameMatrix(const TensorSource &a, const TensorSource &b, bool transposed,
                const std::function<void()> &before) {
  const Comparison comparison{Stored(a),
                              Stored(b),
                              a.type.shape[0],
                              a.type.shape[1],
                              byteSize(a.type.dtype),
                              transposed};
  if (!a.type.numElements())
    return true;
  if (!comparison.a.isThere() || !comparison.b.isThere() ||
      comparison.sampleDiffers())
    return false;
  if (before)
    before();
  return transposed ? comparison.sameTransposed() : comparison.sameInPlace();
}

} // namespace pipec::onnx
