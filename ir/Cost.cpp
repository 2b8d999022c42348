// Counting of elements, bytes and flops. In: ops and types. Out: saturated
// counts that the cost interface returns.
// Tests: test/unit/ir/CostTest.cpp.
#include "ir/Cost.h"

#include "mlir/IR/BuiltinTypes.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace mlir;

namespace pipec::pipe {

static constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

int64_t saturatingProduct(std::initializer_list<int64_t> factors) {
  int64_t product = 1;
  bool overflow = false;
  for (int64_t factor : factors) {
    if (factor == 0)
      return 0;
    if (llvm::MulOverflow(product, factor, product))
      overflow = true;
  }
  return overflow ? kMost : product;
}

int64_t saturatingSum(std::initializer_list<int64_t> terms) {
  int64_t sum = 0;
  for (int64_t term : terms)
    if (llvm::AddOverflow(sum, term, sum))
      return kMost;
  return sum;
}

int64_t elementsOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return 0;
  int64_t elements = 1;
  for (int64_t size : tensor.getShape())
    elements = saturatingProduct({elements, size});
  return elements;
}

int64_t bytesOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.getElementType().isIntOrFloat())
    return 0;
  int64_t width = (tensor.getElementTypeBitWidth() + 7) / 8;
  return saturatingProduct({elementsOf(type), width});
}

int64_t elementwiseFlops(Operation *op, int64_t perElement) {
  int64_t most = 0;
  for (Type type : op->getOperandTypes())
    most = std::max(most, elementsOf(type));
  for (Type type : op->getResultTypes())
    most = std::max(most, elementsOf(type));
  return saturatingProduct({most, perElement});
}

int64_t operandAndResultBytes(Operation *op) {
  int64_t bytes = 0;
  for (Type type : op->getOperandTypes())
    bytes = saturatingSum({bytes, bytesOf(type)});
  for (Type type : op->getResultTypes())
    bytes = saturatingSum({bytes, bytesOf(type)});
  return bytes;
}

} // namespace pipec::pipe
