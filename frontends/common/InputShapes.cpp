// Sizes of graph inputs: see InputShapes.h.
//
// In: declared dimensions, given shapes, --bind. Out: static types.
// Tests: test/unit/frontends/InputShapesTest.cpp.
#include "frontends/common/InputShapes.h"

#include "frontends/common/Text.h"

#include <algorithm>
#include <set>

namespace pipec::frontend {
namespace {

class InputBinder {
public:
  InputBinder(const std::string &path, const ModelInterface &interface,
              const ImportOptions &options)
      : path(path), interface(interface), options(options) {}
  StatusOr<std::vector<TensorType>> run();

private:
  Status checkNames() const;
  Status collect(const ModelInterface::Port &port);
  Status bindSymbol(const std::string &symbol, int64_t size,
                    const std::string &where);
  StatusOr<TensorType> typeOf(const ModelInterface::Port &port) const;
  std::string place(const ModelInterface::Port &port, size_t dim) const {
    return "graph input '" + port.name + "', dimension " + std::to_string(dim);
  }

  struct Binding {
    int64_t size = 0;
    std::string where;
  };
  const std::string &path;
  const ModelInterface &interface;
  const ImportOptions &options;
  std::map<std::string, Binding> symbols;
};

Status InputBinder::checkNames() const {
  std::vector<std::string> names, declared;
  std::set<std::string> seen;
  for (const ModelInterface::Port &port : interface.inputs) {
    names.push_back(port.name);
    for (const ModelInterface::Dim &dim : port.shape)
      if (!dim.symbol.empty() && seen.insert(dim.symbol).second)
        declared.push_back(dim.symbol);
  }
  auto known = [](const std::vector<std::string> &list,
                  const std::string &name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  for (const auto &[name, shape] : options.inputShapes)
    if (!known(names, name))
      return invalidArgument(path + ": there is no graph input '" + name +
                             "'; the inputs are " + joined(names) +
                             didYouMean(name, names));
  for (const std::string &name : options.wholeInputs)
    if (!known(names, name))
      return invalidArgument(path + ": --whole: there is no graph input '" +
                             name + "'; the inputs are " + joined(names) +
                             didYouMean(name, names));
  for (const auto &[symbol, size] : options.bindings) {
    if (!known(declared, symbol))
      return invalidArgument(
          path + ": --bind " + symbol + "=" + std::to_string(size) +
          ": no input has the symbol '" + symbol + "'; the symbols are " +
          (declared.empty() ? "none" : joined(declared)) +
          didYouMean(symbol, declared));
    if (size < 0)
      return invalidArgument(path + ": --bind " + symbol + "=" +
                             std::to_string(size) + ": a size is not negative");
  }
  return Status();
}

Status InputBinder::bindSymbol(const std::string &symbol, int64_t size,
                               const std::string &where) {
  auto [found, made] = symbols.emplace(symbol, Binding{size, where});
  if (made || found->second.size == size)
    return Status();
  return invalidArgument(
      path + ": symbol '" + symbol + "' is " +
      std::to_string(found->second.size) + " by " + found->second.where +
      ", but " + std::to_string(size) + " by " + where +
      "; give both the same size, or export the model with two symbols");
}

/// Sizes that a given shape fixes.
Status InputBinder::collect(const ModelInterface::Port &port) {
  auto given = options.inputShapes.find(port.name);
  if (given == options.inputShapes.end())
    return Status();
  const Shape &shape = given->second;
  std::string what = path + ": graph input '" + port.name + "'";
  if (port.hasShape && shape.size() != port.shape.size())
    return invalidArgument(
        what + " has rank " + std::to_string(port.shape.size()) +
        " in the file, but the given shape " + shapeText(shape) + " has rank " +
        std::to_string(shape.size()));
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] < 0)
      return invalidArgument(what + ": the given shape " + shapeText(shape) +
                             " has a negative size");
    if (!port.hasShape)
      continue;
    const ModelInterface::Dim &dim = port.shape[d];
    if (dim.size >= 0 && dim.size != shape[d])
      return invalidArgument(what + ": dimension " + std::to_string(d) +
                             " is declared as " + std::to_string(dim.size) +
                             " in the file, but " + std::to_string(shape[d]) +
                             " is given; give inputs and microbatches of that "
                             "size, or export the model with a "
                             "dynamic dimension");
    if (dim.size < 0 && !dim.symbol.empty())
      PIPEC_RETURN_IF_ERROR(bindSymbol(dim.symbol, shape[d], place(port, d)));
  }
  return Status();
}

StatusOr<TensorType>
InputBinder::typeOf(const ModelInterface::Port &port) const {
  std::string what = path + ": graph input '" + port.name + "'";
  TensorType type{port.dtype, {}};
  auto given = options.inputShapes.find(port.name);
  if (given != options.inputShapes.end()) {
    type.shape = given->second;
  } else if (!port.hasShape) {
    return invalidArgument(what + " has no shape in the file; give its shape");
  } else {
    for (size_t d = 0; d < port.shape.size(); ++d) {
      const ModelInterface::Dim &dim = port.shape[d];
      auto bound = symbols.find(dim.symbol);
      if (dim.size < 0 && dim.symbol.empty())
        return invalidArgument(
            what + ": dimension " + std::to_string(d) +
            " has neither size nor symbol in the file; give the input's shape");
      if (dim.size < 0 && bound == symbols.end())
        return invalidArgument(what + ": dimension " + std::to_string(d) +
                               " is the symbol '" + dim.symbol +
                               "', which has no size; give it with --bind " +
                               dim.symbol + "=SIZE");
      type.shape.push_back(dim.size >= 0 ? dim.size : bound->second.size);
    }
  }
  auto bytes = checkedByteSize(type);
  if (!bytes.ok())
    return bytes.status().withPrefix(what);
  return type;
}

StatusOr<std::vector<TensorType>> InputBinder::run() {
  PIPEC_RETURN_IF_ERROR(checkNames());
  for (const auto &[symbol, size] : options.bindings)
    PIPEC_RETURN_IF_ERROR(bindSymbol(symbol, size, "--bind"));
  for (const ModelInterface::Port &port : interface.inputs)
    PIPEC_RETURN_IF_ERROR(collect(port));
  std::vector<TensorType> types;
  for (const ModelInterface::Port &port : interface.inputs) {
    PIPEC_ASSIGN_OR_RETURN(TensorType type, typeOf(port));
    types.push_back(std::move(type));
  }
  return types;
}

} // namespace

StatusOr<std::vector<TensorType>> bindInputs(const std::string &path,
                                             const ModelInterface &interface,
                                             const ImportOptions &options) {
  return InputBinder(path, interface, options).run();
}

} // namespace pipec::frontend
