// Permuted copies against a plain loop over all indices.
#include "runtime/package/permute.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace pipec {
namespace {

template <typename T>
void check(const std::vector<int64_t> &stored,
           const std::vector<int64_t> &permutation) {
  const size_t rank = stored.size();
  int64_t count = 1;
  for (int64_t dim : stored)
    count *= dim;
  std::vector<T> from(count), to(count, T(-1)), expected(count);
  std::iota(from.begin(), from.end(), T(1));
  for (int64_t at = 0; at < count; ++at) {
    // `at` counts the result; find its element in the source.
    int64_t rest = at, offset = 0;
    for (size_t k = rank; k-- > 0;) {
      const int64_t axis = permutation[k];
      int64_t stride = 1;
      for (size_t a = axis + 1; a < rank; ++a)
        stride *= stored[a];
      offset += rest % stored[axis] * stride;
      rest /= stored[axis];
    }
    expected[at] = from[offset];
  }
  permuteCopy(from.data(), stored, permutation, sizeof(T), to.data());
  EXPECT_EQ(to, expected);
}

TEST(PermuteTest, AllPermutations) {
  for (std::vector<int64_t> shape :
       {std::vector<int64_t>{7}, {3, 5}, {70, 33}, {2, 3, 4}, {3, 1, 2, 5}}) {
    std::vector<int64_t> permutation(shape.size());
    std::iota(permutation.begin(), permutation.end(), 0);
    do {
      check<uint8_t>(shape, permutation);
      check<uint16_t>(shape, permutation);
      check<uint32_t>(shape, permutation);
      check<uint64_t>(shape, permutation);
    } while (std::next_permutation(permutation.begin(), permutation.end()));
  }
}

TEST(PermuteTest, EmptyAndScalar) {
  check<uint32_t>({0, 3}, {1, 0});
  check<uint32_t>({3, 0}, {1, 0});
  check<uint32_t>({}, {});
}

} // namespace
} // namespace pipec
