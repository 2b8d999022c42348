// The numbers of constants that have an entry for each row of the batch, such
// as the positions that a model reads its own rows at.
#ifndef PIPEC_PASSES_DIFFERENTIATE_CONSTANTROWS_H
#define PIPEC_PASSES_DIFFERENTIATE_CONSTANTROWS_H

#include "ir/OpDescs.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>
#include <vector>

namespace pipec::pipe {

/// Values that constants alone make, each computed once.
class Constants {
public:
  /// `weights`: of the module that the values are in; not owned.
  Constants(const mlir::SymbolTable &weights, size_t maxBytes)
      : weights(weights), maxBytes(maxBytes) {}
  /// Nothing where anything else is in it, or it is too large.
  std::optional<Tensor> of(mlir::Value value);

private:
  const mlir::SymbolTable &weights;
  size_t maxBytes;
  llvm::DenseMap<mlir::Value, std::optional<Tensor>> known;
};

/// Numbers of which each row's are those of the row before it plus a step, the
/// same for all rows.
class ConstantRows {
public:
  /// The rows lie along `dim`, as many neighbours each. Nothing where they are
  /// no such numbers.
  static std::optional<ConstantRows> of(const Tensor &tensor, int64_t dim,
                                        int64_t rows);
  bool operator==(const ConstantRows &o) const {
    return first == o.first && step == o.step && last == o.last;
  }
  /// Whether all rows are equal.
  bool isAlike() const;
  /// Whether, as positions in a dimension of which each row has `each`
  /// neighbours, those of every row lie in that row. `component`: of index
  /// vectors along the last dimension, the one for that dimension; the others
  /// must be the same in all rows. Without it: each number is a position.
  bool pointsIntoRow(int64_t each,
                     std::optional<int64_t> component = std::nullopt) const;

private:
  std::vector<double> first, step; // of a row, row-major
  int64_t last = 1;                // size of the last dimension, of one row
};

} // namespace pipec::pipe

#endif // PIPEC_PASSES_DIFFERENTIATE_CONSTANTROWS_H
