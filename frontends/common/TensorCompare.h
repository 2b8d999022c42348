// Whether two stored tensors hold the same bytes, one of them with its axes
// permuted, however large they are.
//
// In: two TensorSources. Out: yes or no, or the permutations that make them
// equal. Works in blocks and gives the pages of mapped files back, so that the
// memory it takes does not grow with the tensors. Tests:
// test/unit/frontends/TensorCompareTest.cpp, test/conformance/large_weights.py.
#ifndef PIPEC_FRONTENDS_COMMON_TENSORCOMPARE_H
#define PIPEC_FRONTENDS_COMMON_TENSORCOMPARE_H

#include "frontends/common/TensorSource.h"

#include <functional>
#include <optional>
#include <string>
#include <tuple>

namespace pipec::frontend {

/// Axis k of the permuted tensor is axis permutation[k]; empty: as it is.
using Permutation = std::vector<int64_t>;

/// Elements that lie row by row in a shape; which tensor has them is in the
/// source.
struct StoredTensor {
  const TensorSource &source;
  std::vector<int64_t> shape; // as many elements as the source's type
};

/// Whether `a`, its axes permuted, has the elements of `b` row by row: the
/// shape of `b` does not count. A sample of the elements comes first; `before`
/// is called where all have to be compared. False where types or counts differ.
bool samePermuted(const StoredTensor &a, const Permutation &permutation,
                  const TensorSource &b,
                  const std::function<void()> &before = {});

/// The permutations of `a` that give `b`, each meaning other elements; {} is
/// the first where it does. None for more than four axes longer than 1 but as
/// it is.
std::vector<Permutation> permutationsTo(const StoredTensor &a,
                                        const TensorSource &b,
                                        const std::function<void()> &before);

/// What no permutation changes: type, elements, the first and the last one.
using Fingerprint = std::tuple<DType, int64_t, std::string>;
/// Nothing where there are no elements.
std::optional<Fingerprint> fingerprint(const TensorSource &source);

/// Both are the same bytes of the same file, or of one tensor in memory.
bool samePlace(const TensorSource &a, const TensorSource &b);

/// So many different values that two tensors that were made independently are
/// not equal: unlike zeros, ones, an identity.
bool isDistinctive(const TensorSource &source);

/// The first row of zeros of a matrix that has other rows too. Looks at some
/// rows of either end.
std::optional<int64_t> zeroRow(const TensorSource &source);

} // namespace pipec::frontend

#endif
