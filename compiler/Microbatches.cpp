// Whole-batch shapes from tensors, bindings or the file; then their cut along
// axis 0. Tests: test/unit/compiler/MicrobatchesTest.cpp.
#include "compiler/Microbatches.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

namespace pipec {
namespace {

using Port = frontend::ModelInterface::Port;

std::string knownSymbols(const frontend::ModelInterface &model) {
  std::set<std::string> symbols;
  for (const Port &input : model.inputs)
    for (const auto &dim : input.shape)
      if (dim.size < 0 && !dim.symbol.empty())
        symbols.insert(dim.symbol);
  std::string text;
  for (const std::string &symbol : symbols)
    text += (text.empty() ? "" : ", ") + symbol;
  return text.empty() ? "none" : text;
}

/// A binding or `--whole` that names nothing is a typing error.
Status checkNames(const frontend::ModelInterface &model,
                  const CompileOptions &options) {
  for (const auto &[symbol, size] : options.bindings) {
    if (size < 1)
      return invalidArgument("--bind " + symbol + "=" + std::to_string(size) +
                             ": a size must be 1 or more");
    bool known =
        llvm::any_of(model.inputs, [&, &name = symbol](const Port &input) {
          return llvm::any_of(
              input.shape, [&](const auto &dim) { return dim.symbol == name; });
        });
    if (!known)
      return invalidArgument(
          "--bind " + symbol +
          ": the model has no symbolic dimension of that name; it has " +
          knownSymbols(model));
  }
  std::string names;
  for (const Port &input : model.inputs)
    names += (names.empty() ? "" : ", ") + input.name;
  auto isInput = [&](const std::string &name) {
    return llvm::any_of(model.inputs,
                        [&](const Port &input) { return input.name == name; });
  };
  for (const std::string &name : options.wholeInputs)
    if (!isInput(name))
      return invalidArgument("--whole " + name +
                             ": the model has no such input; it has " + names);
  return {};
}

/// A binding that the given tensor contradicts is a mistake.
Status checkBindings(const Port &input, const std::vector<int64_t> &shape,
                     const CompileOptions &options) {
  for (size_t axis = 0; axis < std::min(shape.size(), input.shape.size());
       ++axis) {
    auto bound = options.bindings.find(input.shape[axis].symbol);
    // A binding is of the whole batch, what is given a part of it.
    const bool isRows = axis == 0 && !isWholeInput(input, options);
    const int64_t size = shape[axis] * (isRows ? options.accumulate : 1);
    if (input.shape[axis].size < 0 && bound != options.bindings.end() &&
        bound->second != size)
      return invalidArgument(
          "--bind " + bound->first + "=" + std::to_string(bound->second) +
          ", but dimension " + std::to_string(axis) + " of the given '" +
          input.name + "' is " + std::to_string(size) +
          "; the sizes come from the data");
  }
  return {};
}

StatusOr<std::vector<int64_t>> wholeBatchShape(const Port &input,
                                               const CompileOptions &options) {
  auto given = options.inputShapes.find(input.name);
  if (given != options.inputShapes.end()) {
    PIPEC_RETURN_IF_ERROR(checkBindings(input, given->second, options));
    return given->second;
  }
  if (!options.inputShapes.empty())
    return invalidArgument("input '" + input.name +
                           "' is missing from the inputs");
  if (!input.hasShape)
    return invalidArgument(
        "input '" + input.name +
        "' has no shape in the file; export the model with one, or use 'pipec "
        "run' or 'pipec train' with --inputs, which take it from the tensors");
  std::vector<int64_t> shape;
  for (const auto &[axis, dim] : llvm::enumerate(input.shape)) {
    int64_t size = dim.size;
    if (size < 0) {
      auto bound = options.bindings.find(dim.symbol);
      if (bound != options.bindings.end())
        size = bound->second;
      else if (options.defaultBindings || (options.defaultRows && axis == 0))
        size = axis == 0 && !isWholeInput(input, options) ? options.microbatches
                                                          : 1;
      else
        return invalidArgument(
            "input '" + input.name + "': dimension " + std::to_string(axis) +
            " (" + (dim.symbol.empty() ? "unnamed" : dim.symbol) +
            ") has no size; " +
            (dim.symbol.empty()
                 ? "it has no symbol to --bind either; export the model with "
                   "a named or a fixed dimension, or use 'pipec run' or 'pipec "
                   "train' with --inputs, which take it from the tensors"
                 : "give it with --bind " + dim.symbol + "=SIZE"));
    }
    shape.push_back(size);
  }
  return shape;
}

/// A file that was exported for a fixed batch is compiled for that size.
bool hasFixedBatch(const Port &input) {
  return input.hasShape && !input.shape.empty() && input.shape[0].size >= 0;
}

} // namespace

bool isWholeInput(const Port &input, const CompileOptions &options) {
  auto given = options.inputShapes.find(input.name);
  bool scalar = given != options.inputShapes.end()
                    ? given->second.empty()
                    : input.hasShape && input.shape.empty();
  return scalar || llvm::is_contained(options.wholeInputs, input.name);
}

StatusOr<CompileOptions> wholeWhereUncut(const frontend::ModelInterface &model,
                                         const CompileOptions &options,
                                         bool &changed) {
  changed = false;
  CompileOptions whole = options;
  if (options.microbatches != 1 || options.accumulate != 1)
    return whole;
  std::set<int64_t> rows;
  for (const Port &input : model.inputs) {
    PIPEC_ASSIGN_OR_RETURN(std::vector<int64_t> shape,
                           wholeBatchShape(input, options));
    if (isWholeInput(input, options) || shape.empty())
      continue;
    rows.insert(shape[0]);
    whole.wholeInputs.push_back(input.name);
  }
  changed = rows.size() > 1;
  return changed ? whole : options;
}

/// Whether the first dimension of `input` is the one that `rowsFrom` has its
/// rows in: the same symbol or fixed size, or a symbol that nobody bound.
static bool hasRowsOf(const Port &rowsFrom, const Port &input,
                      const CompileOptions &options) {
  if (isWholeInput(input, options) || !input.hasShape || input.shape.empty())
    return false;
  const auto &dim = input.shape[0];
  if (dim.size < 0 && !options.bindings.count(dim.symbol))
    return true;
  return rowsFrom.hasShape && !rowsFrom.shape.empty() &&
         rowsFrom.shape[0].size == dim.size &&
         rowsFrom.shape[0].symbol == dim.symbol;
}

/// What a batch has where nobody said it.
static int64_t rowsByFile(const Port &input, const CompileOptions &options) {
  const int64_t pieces = options.microbatches * options.accumulate;
  if (!input.hasShape || input.shape.empty())
    return pieces;
  const auto &dim = input.shape[0];
  if (dim.size >= 0)
    return dim.size * pieces; // the size of each
  auto bound = options.bindings.find(dim.symbol);
  return bound == options.bindings.end() ? pieces : bound->second;
}

StatusOr<std::map<std::string, std::vector<int64_t>>>
batchShapes(const frontend::ModelInterface &model,
            const CompileOptions &options, const std::string &rowsFrom,
            int64_t rows) {
  PIPEC_RETURN_IF_ERROR(checkNames(model, options));
  CompileOptions open = options;
  open.microbatches = 1;
  open.defaultRows = true;
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const Port &input : model.inputs) {
    PIPEC_ASSIGN_OR_RETURN(shapes[input.name], wholeBatchShape(input, open));
  }
  auto from = llvm::find_if(
      model.inputs, [&](const Port &input) { return input.name == rowsFrom; });
  if (from == model.inputs.end())
    return shapes;
  if (rows == 0)
    rows = rowsByFile(*from, options);
  for (const Port &input : model.inputs)
    if (auto &shape = shapes[input.name];
        !shape.empty() &&
        (input.name == rowsFrom || hasRowsOf(*from, input, options)))
      shape[0] = rows;
  return shapes;
}

static Status tooFewRows(int64_t rows, const std::string &input,
                         const CompileOptions &options) {
  return invalidArgument(
      (options.accumulate > 1 ? "a part of " : "a batch of ") +
      std::to_string(rows) + (rows == 1 ? " row" : " rows") + " (input '" +
      input + "') cannot be cut into " + std::to_string(options.microbatches) +
      " microbatches; use " + (rows > 1 ? "at most " : "") + "--microbatches " +
      std::to_string(rows) + ", or a larger batch");
}

StatusOr<std::vector<VariantShapes>>
planVariants(const frontend::ModelInterface &model,
             const CompileOptions &options) {
  PIPEC_RETURN_IF_ERROR(checkNames(model, options));
  if (options.microbatches < 1)
    return invalidArgument("--microbatches must be 1 or more, got " +
                           std::to_string(options.microbatches));
  std::map<std::string, std::vector<int64_t>> shapes;
  int64_t rows = 0;
  std::string rowsFrom;
  bool fixedSizes = false; // the sizes are already a microbatch's
  for (const Port &input : model.inputs) {
    PIPEC_ASSIGN_OR_RETURN(std::vector<int64_t> shape,
                           wholeBatchShape(input, options));
    if (!isWholeInput(input, options) && !shape.empty()) {
      fixedSizes |=
          hasFixedBatch(input) && !options.inputShapes.count(input.name);
      if (!rowsFrom.empty() && rows != shape[0])
        return invalidArgument(
            "inputs are cut along their first dimension, but '" + rowsFrom +
            "' has " + std::to_string(rows) + " rows and '" + input.name +
            "' has " + std::to_string(shape[0]) + "; if '" + input.name +
            "' is no batch, pass --whole " + input.name);
      rows = shape[0];
      rowsFrom = input.name;
    }
    shapes[input.name] = std::move(shape);
  }
  std::set<int64_t, std::greater<int64_t>> sizes;
  if (rowsFrom.empty() || fixedSizes) {
    sizes.insert(rows);
  } else {
    if (rows == 0)
      return invalidArgument("input '" + rowsFrom + "' has no rows");
    if (rows < options.microbatches)
      return tooFewRows(rows, rowsFrom, options);
    // torch.tensor_split's: 10 rows in 4 pieces are 3, 3, 2, 2.
    sizes.insert(rows / options.microbatches);
    if (rows % options.microbatches)
      sizes.insert(rows / options.microbatches + 1);
  }
  std::vector<VariantShapes> variants;
  for (int64_t size : sizes) {
    VariantShapes variant{rowsFrom.empty() ? 0 : size, shapes,
                          fixedSizes ? rows * options.microbatches : rows};
    for (const Port &input : model.inputs)
      if (auto &shape = variant.inputShapes[input.name];
          !isWholeInput(input, options) && !shape.empty())
        shape[0] = size;
    variants.push_back(std::move(variant));
  }
  return variants;
}

/// Whether the file gives the first dimension of output `name` a fixed size
/// although that of the inputs which are cut is symbolic: then it is no batch.
static bool hasFixedRows(const frontend::ModelInterface &model,
                         const CompileOptions &options,
                         const std::string &name) {
  bool symbolicBatch = llvm::any_of(model.inputs, [&](const Port &port) {
    return !isWholeInput(port, options) && port.hasShape &&
           !port.shape.empty() && port.shape[0].size < 0;
  });
  return symbolicBatch && llvm::any_of(model.outputs, [&](const Port &port) {
           return port.name == name && port.hasShape && !port.shape.empty() &&
                  port.shape[0].size >= 0;
         });
}

Merge mergeOf(const frontend::ModelInterface &model,
              const CompileOptions &options, const std::string &name,
              const std::vector<std::pair<int64_t, TensorType>> &variants) {
  auto asked = options.merges.find(name);
  if (asked != options.merges.end())
    return asked->second;
  if (variants[0].first == 0)
    return Merge::Same;
  if (hasFixedRows(model, options, name))
    return Merge::Unspecified;
  for (const auto &[rows, type] : variants)
    if (type.shape.empty() || type.shape[0] != rows)
      return Merge::Unspecified;
  return Merge::Concat;
}

VariantShapes withRows(VariantShapes variant, int64_t rows,
                       const frontend::ModelInterface &model,
                       const CompileOptions &options) {
  variant.rows = rows;
  for (const auto &input : model.inputs)
    if (auto &shape = variant.inputShapes[input.name];
        !isWholeInput(input, options) && !shape.empty())
      shape[0] = rows;
  return variant;
}

} // namespace pipec
