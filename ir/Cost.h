// What ops cost, from their types alone: helpers behind `Pipe_CostInterface`.
//
// Counts saturate at the largest int64_t instead of overflowing.
// Tests: test/unit/ir/CostTest.cpp.
#ifndef PIPEC_IR_COST_H
#define PIPEC_IR_COST_H

#include "mlir/IR/Operation.h"

#include <cstdint>
#include <initializer_list>

namespace pipec::pipe {

/// Flops that one transcendental function (exp, erf, ...) counts as.
constexpr int64_t kTranscendentalFlops = 8;

/// Product of non-negative factors, at most INT64_MAX.
int64_t saturatingProduct(std::initializer_list<int64_t> factors);
/// Sum of non-negative terms, at most INT64_MAX.
int64_t saturatingSum(std::initializer_list<int64_t> terms);

/// Elements of a ranked tensor type with a static shape; 0 for other types.
int64_t elementsOf(mlir::Type type);
/// Bytes of a ranked tensor type with a static shape (one a bool); 0 for other
/// types.
int64_t bytesOf(mlir::Type type);

/// `perElement` flops for each element of the largest operand or result.
int64_t elementwiseFlops(mlir::Operation *op, int64_t perElement);
/// Bytes of all operands and results, each counted once.
int64_t operandAndResultBytes(mlir::Operation *op);

} // namespace pipec::pipe

#endif // PIPEC_IR_COST_H
