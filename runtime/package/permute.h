// Copying an array with its axes permuted.
#ifndef PIPEC_RUNTIME_PACKAGE_PERMUTE_H
#define PIPEC_RUNTIME_PACKAGE_PERMUTE_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pipec {

/// Axis k of `to` is axis permutation[k] of `from`, a dense array of
/// `storedShape`; elements have `elementBytes` (1, 2, 4 or 8) and any
/// alignment. The arguments are a checked permutation of equal ranks.
void permuteCopy(const void *from, const std::vector<int64_t> &storedShape,
                 const std::vector<int64_t> &permutation, size_t elementBytes,
                 void *to);

} // namespace pipec

#endif
