// See TensorCompare.h. Axes that stay beside each other are taken as one, so
// most permutations are none or the transposition of a matrix. A transposed
// matrix is compared panel by panel, a few hundred rows of the one against as
// many columns of the other, so that each page is read about once.
#include "frontends/common/TensorCompare.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>

namespace pipec::frontend {
namespace {

/// Bytes that are mapped or copied at once, of each tensor.
constexpr uint64_t kPanelBytes = 32 << 20;
constexpr int64_t kSamples = 256;

/// A tensor as it lies: bytes, and the file whose pages they are.
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

/// One axis of a walk over `a` in the order of `b`: how many elements, and how
/// far apart they are in `a`.
struct Axis {
  int64_t size, stride;
  bool operator<(const Axis &other) const {
    return std::tie(size, stride) < std::tie(other.size, other.stride);
  }
};

/// Without axes of one element, and with neighbours that stay neighbours as
/// one.
std::vector<Axis> walkOf(const std::vector<int64_t> &shape,
                         const Permutation &permutation) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t k = shape.size(); k-- > 1;)
    strides[k - 1] = strides[k] * shape[k];
  std::vector<Axis> walk;
  for (size_t k = 0; k < shape.size(); ++k) {
    const size_t from = permutation.empty() ? k : permutation[k];
    const Axis axis{shape[from], strides[from]};
    if (axis.size == 1)
      continue;
    if (!walk.empty() && walk.back().stride == axis.size * axis.stride)
      walk.back() = {walk.back().size * axis.size, axis.stride};
    else
      walk.push_back(axis);
  }
  return walk;
}

/// `a` in the order of `walk` against `b` as it lies.
struct Comparison {
  Stored a, b;
  std::vector<Axis> walk;
  int64_t count; // elements
  size_t width;  // bytes of an element
  // Of a matrix, transposed: of `a`.
  int64_t rows = 1, columns = 1;

  uint64_t offsetInA(int64_t i, int64_t j) const {
    return static_cast<uint64_t>(i * columns + j) * width;
  }
  uint64_t offsetInB(int64_t i, int64_t j) const {
    return static_cast<uint64_t>(j * rows + i) * width;
  }
  bool isInPlace() const {
    return walk.empty() || (walk.size() == 1 && walk[0].stride == 1);
  }
  bool isTransposed() const {
    return walk.size() == 2 && walk[0].stride == 1 &&
           walk[1].stride == walk[0].size;
  }
  uint64_t inA(int64_t element) const;
  bool sampleDiffers() const;
  bool sameInPlace() const;
  bool sameTransposed() const;
  bool sameWalked() const;
  /// Known widths, so that the compiler need not call memcmp.
  bool sameElement(const uint8_t *x, const uint8_t *y) const {
    return width == 4   ? std::memcmp(x, y, 4) == 0
           : width == 2 ? std::memcmp(x, y, 2) == 0
                        : std::memcmp(x, y, width) == 0;
  }
};

/// Byte in `a` of what is element `element` of `b`.
uint64_t Comparison::inA(int64_t element) const {
  int64_t at = 0;
  for (size_t k = walk.size(); k-- > 0;) {
    at += element % walk[k].size * walk[k].stride;
    element /= walk[k].size;
  }
  return static_cast<uint64_t>(at) * width;
}

/// Positions all over the tensor; padding rows and zeros at its ends say
/// little.
bool Comparison::sampleDiffers() const {
  uint64_t state = 0x9e3779b97f4a7c15;
  bool differs = false;
  for (int64_t k = 0; k < kSamples && !differs; ++k) {
    state = state * 6364136223846793005 + 1442695040888963407;
    const uint64_t element = (state >> 16) % static_cast<uint64_t>(count);
    differs = !sameElement(a.at(inA(static_cast<int64_t>(element))),
                           b.at(element * width));
  }
  a.releaseAll();
  b.releaseAll();
  return differs;
}

bool Comparison::sameInPlace() const {
  const uint64_t total = static_cast<uint64_t>(count) * width;
  for (uint64_t at = 0; at < total; at += kPanelBytes) {
    const uint64_t bytes = std::min(kPanelBytes, total - at);
    const bool same = std::memcmp(a.at(at), b.at(at), bytes) == 0;
    a.release(at, bytes);
    b.release(at, bytes);
    if (!same)
      return false;
  }
  return true;
}

bool Comparison::sameWalked() const {
  for (int64_t i = 0; i < count; ++i)
    if (!sameElement(a.at(inA(i)), b.at(static_cast<uint64_t>(i) * width)))
      return false;
  return true;
}

/// Panels of rows of `a`, in each of them a few rows of `b` at a time, of which
/// each cache line is read once: as many elements as rows of `a` lie beside it.
bool Comparison::sameTransposed() const {
  // A fault maps the pages around, too, so they go in time.
  constexpr int64_t kRowsMapped = 128;
  const auto lineRows = static_cast<int64_t>(64 / width);
  const int64_t panelRows = std::max<int64_t>(
      lineRows, static_cast<int64_t>(kPanelBytes / offsetInA(1, 0)));
  bool same = true;
  for (int64_t i0 = 0; i0 < rows && same; i0 += panelRows) {
    const int64_t i1 = std::min(i0 + panelRows, rows);
    for (int64_t j0 = 0; j0 < columns && same; j0 += kRowsMapped) {
      const int64_t j1 = std::min(j0 + kRowsMapped, columns);
      for (int64_t i = i0; i < i1 && same; i += lineRows)
        for (int64_t j = j0; j < j1; ++j)
          for (int64_t r = i; r < std::min(i + lineRows, i1); ++r)
            same &= sameElement(a.at(offsetInA(r, j)), b.at(offsetInB(r, j)));
      b.release(offsetInB(0, j0), offsetInB(0, j1) - offsetInB(0, j0));
    }
    a.release(offsetInA(i0, 0), offsetInA(i1 - i0, 0));
  }
  return same;
}

/// Permutations of the axes of `shape` that mean different walks, none first.
std::vector<Permutation>
differentPermutations(const std::vector<int64_t> &shape) {
  constexpr int64_t kMostAxes = 4;
  std::vector<Permutation> result{{}};
  const auto axes = std::count_if(shape.begin(), shape.end(),
                                  [](int64_t size) { return size != 1; });
  if (axes < 2 || axes > kMostAxes || shape.size() > 2 * kMostAxes)
    return result;
  std::set<std::vector<Axis>> walks{walkOf(shape, {})};
  Permutation permutation(shape.size());
  std::iota(permutation.begin(), permutation.end(), 0);
  while (std::next_permutation(permutation.begin(), permutation.end()))
    if (walks.insert(walkOf(shape, permutation)).second)
      result.push_back(permutation);
  return result;
}

} // namespace

bool samePermuted(const StoredTensor &a, const Permutation &permutation,
                  const TensorSource &b, const std::function<void()> &before) {
  const TensorType &type = a.source.type;
  if (type.dtype != b.type.dtype || type.numElements() != b.type.numElements())
    return false;
  if (!type.numElements())
    return true;
  Comparison comparison{Stored(a.source), Stored(b),
                        walkOf(a.shape, permutation), type.numElements(),
                        byteSize(type.dtype)};
  if (comparison.isInPlace() && samePlace(a.source, b))
    return true;
  if (!comparison.a.isThere() || !comparison.b.isThere() ||
      comparison.sampleDiffers())
    return false;
  if (before)
    before();
  if (comparison.isInPlace())
    return comparison.sameInPlace();
  if (!comparison.isTransposed())
    return comparison.sameWalked();
  comparison.columns = comparison.walk[0].size;
  comparison.rows = comparison.walk[1].size;
  return comparison.sameTransposed();
}

std::vector<Permutation> permutationsTo(const StoredTensor &a,
                                        const TensorSource &b,
                                        const std::function<void()> &before) {
  std::vector<Permutation> result;
  if (a.source.type.dtype != b.type.dtype ||
      a.source.type.numElements() != b.type.numElements())
    return result;
  for (Permutation &permutation : differentPermutations(a.shape))
    if (samePermuted(a, permutation, b, before))
      result.push_back(std::move(permutation));
  return result;
}

std::optional<Fingerprint> fingerprint(const TensorSource &source) {
  const Stored stored(source);
  const size_t width = byteSize(source.type.dtype);
  const size_t bytes = source.type.byteSize();
  if (!bytes || !stored.isThere())
    return std::nullopt;
  std::string ends(reinterpret_cast<const char *>(stored.at(0)), width);
  ends.append(reinterpret_cast<const char *>(stored.at(bytes - width)), width);
  return Fingerprint(source.type.dtype, source.type.numElements(),
                     std::move(ends));
}

bool samePlace(const TensorSource &a, const TensorSource &b) {
  if (a.inFile() != b.inFile())
    return false;
  return a.inFile() ? a.file == b.file && a.offset == b.offset
                    : a.inlined.data() == b.inlined.data();
}

bool isDistinctive(const TensorSource &source) {
  constexpr int64_t kFewest = 4, kEnough = 8;
  const Stored stored(source);
  const int64_t count = source.type.numElements();
  const size_t width = byteSize(source.type.dtype);
  if (!stored.isThere() || count < kFewest)
    return false;
  const auto enough = static_cast<size_t>(std::min(kEnough, count));
  std::set<std::string> values;
  const int64_t step = std::max<int64_t>(1, count / kSamples);
  for (int64_t i = 0; i < count && values.size() < enough; i += step)
    values.emplace(reinterpret_cast<const char *>(
                       stored.at(static_cast<uint64_t>(i) * width)),
                   width);
  return values.size() >= enough;
}

std::optional<int64_t> zeroRow(const TensorSource &source) {
  constexpr int64_t kRows = 1024; // of each end
  const Stored stored(source);
  if (!stored.isThere() || source.type.rank() != 2)
    return std::nullopt;
  const int64_t rows = source.type.shape[0];
  const size_t width =
      byteSize(source.type.dtype) * static_cast<size_t>(source.type.shape[1]);
  std::optional<int64_t> first;
  bool others = false;
  for (int64_t row = 0; row < rows; ++row) {
    if (row == kRows)
      row = std::max(row, rows - kRows);
    const uint8_t *bytes = stored.at(static_cast<uint64_t>(row) * width);
    const bool zero =
        std::all_of(bytes, bytes + width, [](uint8_t b) { return b == 0; });
    others |= !zero;
    if (zero && !first)
      first = row;
  }
  return others ? first : std::nullopt;
}

} // namespace pipec::frontend
