// Constants by their numbers: see ConstantRows.h.
// Tests: test/unit/passes/differentiate/ConstantRowsTest.cpp.
#include "passes/differentiate/ConstantRows.h"

#include "ir/PipeOps.h"

#include <cmath>

using namespace mlir;

namespace pipec::pipe {

std::optional<Tensor> Constants::of(Value value) {
  llvm::SmallVector<Value> open{value};
  while (!open.empty()) {
    Value next = open.back();
    Operation *op = next.getDefiningOp();
    if (known.count(next)) {
      open.pop_back();
      continue;
    }
    if (!op || isa<LoadWeightOp, ConstantOp>(op)) {
      known[next] = op ? constantTensor(op, weights) : std::nullopt;
      continue;
    }
    const size_t before = open.size();
    for (Value operand : op->getOperands())
      if (!known.count(operand))
        open.push_back(operand);
    if (open.size() != before)
      continue;
    auto results = evaluateWith(
        op, maxBytes, [&](Value operand) { return known.lookup(operand); });
    for (auto [i, result] : llvm::enumerate(op->getResults()))
      known[result] =
          results ? std::optional<Tensor>((*results)[i]) : std::nullopt;
  }
  return known.lookup(value);
}

/// From here on, a double does not hold all integers.
constexpr double kExact = 9007199254740992.0; // 2^53

/// Exactly, where a double holds them; nothing for other types.
static std::optional<std::vector<double>> numbersOf(const Tensor &tensor) {
  std::vector<double> numbers;
  auto take = [&](auto zero) {
    const auto *data = tensor.as<decltype(zero)>();
    numbers.assign(data, data + tensor.numElements());
  };
  switch (tensor.dtype()) {
  case DType::I64:
    take(int64_t());
    break;
  case DType::I32:
    take(int32_t());
    break;
  case DType::F32:
    take(float());
    break;
  case DType::F64:
    take(double());
    break;
  case DType::Bool:
  case DType::U8:
    take(uint8_t());
    break;
  default:
    return std::nullopt;
  }
  // NaN is no number, and integers are those that a double holds exactly.
  const bool isInteger = tensor.dtype() == DType::I64;
  for (double number : numbers)
    if (std::isnan(number) || (isInteger && std::abs(number) >= kExact))
      return std::nullopt;
  return numbers;
}

std::optional<ConstantRows> ConstantRows::of(const Tensor &tensor, int64_t dim,
                                             int64_t rows) {
  const auto &shape = tensor.shape();
  auto numbers = numbersOf(tensor);
  if (!numbers || shape[dim] % rows || numbers->empty())
    return std::nullopt;
  int64_t inner = shape[dim] / rows, outer = 1;
  for (size_t d = 0; d < shape.size(); ++d)
    (static_cast<int64_t>(d) < dim ? outer : inner) *=
        static_cast<int64_t>(d) == dim ? 1 : shape[d];
  ConstantRows result;
  const bool isLast = dim + 1 == static_cast<int64_t>(shape.size());
  result.last = isLast ? shape.back() / rows : shape.back();
  auto at = [&](int64_t o, int64_t row, int64_t i) {
    return (*numbers)[static_cast<size_t>((o * rows + row) * inner + i)];
  };
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      const double first = at(o, 0, i);
      // Infinities have no step but equal ones.
      const double step = at(o, 1, i) == first ? 0 : at(o, 1, i) - first;
      for (int64_t row = 0; row < rows; ++row)
        if (at(o, row, i) !=
            (step == 0 ? first : first + static_cast<double>(row) * step))
          return std::nullopt;
      result.first.push_back(first);
      result.step.push_back(step);
    }
  return result;
}

bool ConstantRows::isAlike() const {
  return llvm::all_of(step, [](double s) { return s == 0; });
}

bool ConstantRows::pointsIntoRow(int64_t each,
                                 std::optional<int64_t> component) const {
  const auto size = static_cast<double>(each);
  for (size_t i = 0; i < first.size(); ++i) {
    const bool isRow =
        !component || static_cast<int64_t>(i) % last == *component;
    if (isRow ? step[i] != size || !(first[i] >= 0 && first[i] < size)
              : step[i] != 0)
      return false;
  }
  return true;
}

} // namespace pipec::pipe
