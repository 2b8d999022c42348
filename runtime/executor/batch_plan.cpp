// From whole-batch inputs to microbatches. In: a checked package and the
// caller's tensors and microbatch count; out: variant and first row of each
// microbatch, or the one message that says what does not fit.
// Tests: test/unit/runtime/BatchPlanTest.cpp.
#include "runtime/executor/batch_plan.h"

#include "runtime/base/input_text.h"
#include "runtime/package/convert.h"

#include <algorithm>

namespace pipec {
namespace {

using Types = std::map<std::string, TensorType>;

std::string quote(const std::string &name) { return "'" + name + "'"; }

std::string join(const std::vector<std::string> &parts) {
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : ", ") + part;
  return text;
}

/// "f32[Nx4]" for inputs that are cut.
std::string expectedType(const Package::Impl &package, size_t i, size_t v) {
  const TensorType &type = package.inputs[i].types[v];
  if (!package.isCut(i, v))
    return type.str();
  std::string text = std::string(dtypeName(type.dtype)) + "[N";
  for (size_t k = 1; k < type.shape.size(); ++k)
    text += "x" + std::to_string(type.shape[k]);
  return text + "]";
}

bool fits(const Package::Impl &package, size_t i, size_t v,
          const TensorType &got) {
  const TensorType &type = package.inputs[i].types[v];
  if (!package.isCut(i, v))
    return got == type;
  return got.dtype == type.dtype && got.shape.size() == type.shape.size() &&
         std::equal(got.shape.begin() + 1, got.shape.end(),
                    type.shape.begin() + 1);
}

Status checkType(const Package::Impl &package, size_t i, size_t v,
                 const TensorType &got) {
  if (fits(package, i, v, got))
    return {};
  std::string text = wrongInput(package.inputs[i].name,
                                expectedType(package, i, v), got.str());
  if (!package.isCut(i, v) && package.microbatchRows[v] > 0)
    text += " (every microbatch gets it uncut)";
  const TensorType &type = package.inputs[i].types[v];
  if (package.training && package.training->loss == LossKind::CrossEntropy &&
      package.inputs[i].name == package.training->labels &&
      got.dtype == type.dtype)
    text += ": the output's shape without its last dimension, which holds the "
            "classes; an output [N, C, T] in PyTorch's order has to be "
            "transposed to "
            "[N, T, C] in the model";
  return invalidArgument(text);
}

Status checkBytes(const std::string &name, const Tensor &tensor) {
  auto bytes = checkedByteSize(tensor.type());
  if (!bytes.ok())
    return invalidArgument("input " + quote(name) + ": " +
                           bytes.status().message());
  if (*bytes != 0 && tensor.empty())
    return invalidArgument("input " + quote(name) + ": the tensor has no data");
  if (int64_t bad = findBadBool(tensor.type(), tensor.data()); bad >= 0)
    return invalidArgument("input " + quote(name) + ": element " +
                           std::to_string(bad) +
                           " of a bool is neither 0 nor 1");
  return {};
}

/// The rows that all inputs that are cut share; -1 when none is cut.
StatusOr<int64_t> batchRows(const Package::Impl &package, const Types &inputs) {
  int64_t rows = -1;
  std::string first;
  for (size_t i = 0; i < package.inputs.size(); ++i) {
    if (!package.isFed(i) || !package.isCut(i, 0))
      continue;
    const std::string &name = package.inputs[i].name;
    const int64_t got = inputs.at(name).shape[0];
    if (rows < 0) {
      rows = got;
      first = name;
    } else if (got != rows) {
      return invalidArgument(
          "inputs " + quote(first) + " and " + quote(name) + " have " +
          std::to_string(rows) + " and " + std::to_string(got) +
          " rows; both are cut along axis 0 (if one is not to be cut, compile "
          "the model again with --whole " +
          name + ")");
    }
  }
  return rows;
}

std::string compiledSizes(const Package::Impl &package) {
  std::vector<int64_t> sizes = package.microbatchRows;
  std::sort(sizes.begin(), sizes.end());
  std::vector<std::string> texts;
  texts.reserve(sizes.size());
  for (int64_t size : sizes)
    texts.push_back(std::to_string(size));
  return join(texts);
}

Status notCompiled(const Package::Impl &package, int64_t rows, int64_t m) {
  std::string text;
  if (m == 0)
    text = std::to_string(rows) + " rows cannot be cut into microbatches of "
                                  "the sizes";
  else if (m > rows)
    text = std::to_string(rows) + " rows cannot be cut into " +
           std::to_string(m) + " microbatches; the sizes";
  else
    text = std::to_string(rows) + " rows in " + std::to_string(m) +
           " microbatches have " + std::to_string(rows / m) +
           (rows % m ? " and " + std::to_string(rows / m + 1) : "") +
           (rows / m == 1 && rows % m == 0 ? " row" : " rows") +
           " each, which are not the sizes";
  return invalidArgument(
      text + " that the package is compiled for (" + compiledSizes(package) +
      "); compile the model again for batches of " + std::to_string(rows) +
      " rows (--bind) and --microbatches " + (m > 0 ? std::to_string(m) : "M"));
}

/// Index of the variant of `rows` rows, or -1.
int64_t findVariant(const Package::Impl &package, int64_t rows) {
  auto it = std::find(package.microbatchRows.begin(),
                      package.microbatchRows.end(), rows);
  return it == package.microbatchRows.end()
             ? -1
             : it - package.microbatchRows.begin();
}

StatusOr<BatchPlan> cut(const Package::Impl &package, int64_t total,
                        int64_t m) {
  if (m == 0)
    m = chooseMicrobatches(total, package.microbatchRows);
  if (m == 0 || m > total)
    return notCompiled(package, total, m);
  const int64_t size = total / m, larger = total % m;
  const int64_t variant = findVariant(package, size);
  const int64_t largerVariant = findVariant(package, size + 1);
  if (variant < 0 || (larger > 0 && largerVariant < 0))
    return notCompiled(package, total, m);
  BatchPlan plan;
  plan.microbatches.resize(m);
  int64_t row = 0;
  for (int64_t k = 0; k < m; ++k) {
    const bool isLarger = k < larger;
    const int64_t rows = size + (isLarger ? 1 : 0);
    plan.microbatches[k] = {
        static_cast<size_t>(isLarger ? largerVariant : variant), row, rows};
    row += rows;
  }
  return plan;
}

} // namespace

int64_t chooseMicrobatches(int64_t rows, const std::vector<int64_t> &compiled) {
  auto has = [&](int64_t size) {
    return std::find(compiled.begin(), compiled.end(), size) != compiled.end();
  };
  int64_t best = 0;
  bool bestUsesTwo = false;
  auto offer = [&](int64_t m, bool usesTwo) {
    if (best == 0 || (usesTwo && !bestUsesTwo) ||
        (usesTwo == bestUsesTwo && m < best)) {
      best = m;
      bestUsesTwo = usesTwo;
    }
  };
  for (int64_t size : compiled) {
    if (size <= 0 || rows < size)
      continue;
    if (rows % size == 0)
      offer(rows / size, false);
    // m pieces of size and size + 1 rows, some of both: rows/(size+1) < m <
    // rows/size.
    const int64_t m = rows / (size + 1) + 1;
    if (has(size + 1) && m * size < rows)
      offer(m, true);
  }
  return best;
}

Types typesOf(const TensorMap &tensors) {
  Types types;
  for (const auto &[name, tensor] : tensors)
    types[name] = tensor.type();
  return types;
}

Status checkNames(const Package::Impl &package, const Types &inputs,
                  bool surplusIsWrong) {
  InputTexts expected, given;
  for (size_t i = 0; i < package.inputs.size(); ++i)
    if (package.isFed(i))
      expected[package.inputs[i].name] = expectedType(package, i, 0);
  for (const auto &[name, type] : inputs)
    given[name] = type.str();
  std::string text = inputMismatch(expected, given, surplusIsWrong);
  return text.empty() ? Status() : invalidArgument(text);
}

StatusOr<BatchPlan> planTypes(const Package::Impl &package, const Types &inputs,
                              int64_t microbatches) {
  if (microbatches < 0)
    return invalidArgument(std::to_string(microbatches) +
                           " microbatches; at least 1, or 0 for as many as "
                           "the compiled sizes give");
  PIPEC_RETURN_IF_ERROR(checkNames(package, inputs, true));
  for (size_t i = 0; i < package.inputs.size(); ++i)
    if (package.isFed(i))
      PIPEC_RETURN_IF_ERROR(
          checkType(package, i, 0, inputs.at(package.inputs[i].name)));
  PIPEC_ASSIGN_OR_RETURN(int64_t rows, batchRows(package, inputs));
  BatchPlan plan;
  if (rows >= 0) {
    PIPEC_ASSIGN_OR_RETURN(plan, cut(package, rows, microbatches));
  } else if (microbatches > 1) {
    return invalidArgument(
        std::to_string(microbatches) +
        " microbatches, but no input is cut into them (all are --whole, or "
        "differ in their first sizes); leave one to be cut, or take "
        "--microbatches 1");
  } else {
    plan.microbatches.resize(1);
  }
  for (size_t v = 1; v < package.variantCount(); ++v)
    if (std::any_of(plan.microbatches.begin(), plan.microbatches.end(),
                    [&](const Microbatch &m) { return m.variant == v; }))
      for (size_t i = 0; i < package.inputs.size(); ++i)
        if (package.isFed(i))
          PIPEC_RETURN_IF_ERROR(
              checkType(package, i, v, inputs.at(package.inputs[i].name)));
  return plan;
}

StatusOr<BatchPlan> planBatch(const Package::Impl &package,
                              const TensorMap &inputs, int64_t microbatches) {
  PIPEC_ASSIGN_OR_RETURN(BatchPlan plan,
                         planTypes(package, typesOf(inputs), microbatches));
  for (const auto &[name, tensor] : inputs)
    PIPEC_RETURN_IF_ERROR(checkBytes(name, tensor));
  return plan;
}

} // namespace pipec
