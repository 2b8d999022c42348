// Imports a model in a test and runs it with the reference kernels.
//
// In: an .onnx file or a ModelBuilder. Out: the module, its text, the outputs
// for given inputs.
#ifndef PIPEC_TEST_UNIT_FRONTENDS_IMPORTHELPER_H
#define PIPEC_TEST_UNIT_FRONTENDS_IMPORTHELPER_H

#include "frontends/onnx/import/OnnxModel.h"
#include "runtime/base/mapped_file.h"
#include "test/unit/frontends/ModelBuilder.h"
#include "test/unit/support/GraphInterpreter.h"

namespace pipec::onnx {
using namespace frontend;
}

namespace pipec::onnx::testing {

/// Keeps context and module together.
struct Imported {
  std::unique_ptr<mlir::MLIRContext> context =
      std::make_unique<mlir::MLIRContext>(
          mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<std::string> notices;
  Status status;
  std::vector<std::string> inputs;

  bool ok() const { return status.ok(); }
  const std::string &message() const { return status.message(); }
  std::string text() const {
    std::string printed;
    llvm::raw_string_ostream stream(printed);
    mlir::ModuleOp(*module).print(stream);
    return printed;
  }
  pipe::GraphOp graph() const {
    return *mlir::ModuleOp(*module).getOps<pipe::GraphOp>().begin();
  }
  std::map<std::string, pipe::WeightOp> weights() const {
    std::map<std::string, pipe::WeightOp> all;
    for (auto weight : mlir::ModuleOp(*module).getOps<pipe::WeightOp>())
      all[weight.getSymName().str()] = weight;
    return all;
  }
  int count(const std::string &op) const {
    int found = 0;
    for (mlir::Operation &each : graph().getBody().front())
      found += each.getName().getStringRef() == "pipe." + op;
    return found;
  }
  /// Bytes of a weight as they lie.
  StatusOr<Tensor> stored(pipe::WeightOp weight) const {
    TensorType type = pipe::toTensorType(weight.getType());
    TensorType lying = type;
    auto permutation = weight.getSource().getPermutation();
    for (size_t k = 0; k < permutation.size(); ++k)
      lying.shape[permutation[k]] = type.shape[k];
    if (weight.getSource().getFile() == pipe::ConstantPool::kFileName)
      return pipe::ConstantPool::get(context.get())
          .tensor(weight.getSource().getOffset(), lying);
    PIPEC_ASSIGN_OR_RETURN(
        auto file, MappedFile::open(weight.getSource().getFile().str()));
    PIPEC_ASSIGN_OR_RETURN(const uint8_t *bytes,
                           file->range(weight.getSource().getOffset(),
                                       weight.getSource().getLength()));
    return Tensor::copyOf(lying, bytes);
  }
  /// A weight in its declared orientation.
  StatusOr<Tensor> declared(pipe::WeightOp weight) const {
    PIPEC_ASSIGN_OR_RETURN(Tensor tensor, stored(weight));
    auto permutation = weight.getSource().getPermutation();
    if (permutation.empty())
      return tensor;
    OpDesc transpose;
    transpose.name = "transpose";
    transpose.inputs = {tensor.type()};
    transpose.outputs = {pipe::toTensorType(weight.getType())};
    transpose.attrs["permutation"] =
        Shape(permutation.begin(), permutation.end());
    PIPEC_ASSIGN_OR_RETURN(auto results, evaluate(transpose, {tensor}));
    return results[0];
  }
  StatusOr<std::vector<Tensor>> run(const TensorMap &named) const {
    TensorMap values;
    for (auto &[name, weight] : weights()) {
      PIPEC_ASSIGN_OR_RETURN(values[name], declared(weight));
    }
    std::vector<Tensor> arguments;
    for (const std::string &name : inputs)
      arguments.push_back(named.at(name));
    return pipe::testing::GraphInterpreter(values).run(graph(), arguments);
  }

  using Shape = std::vector<int64_t>;
};

/// Symbols without a size get 2.
inline Imported importFile(const std::string &path, ImportOptions options = {},
                           bool bindAll = true) {
  Imported result;
  auto model = OnnxModel::open(path);
  if (!model.ok()) {
    result.status = model.status();
    return result;
  }
  for (const auto &input : (*model)->interface().inputs) {
    result.inputs.push_back(input.name);
    for (const auto &dim : input.shape)
      if (bindAll && !dim.symbol.empty() &&
          !options.inputShapes.count(input.name))
        options.bindings.emplace(dim.symbol, 2);
  }
  auto imported =
      (*model)->import(*result.context, options, [&](const std::string &text) {
        result.notices.push_back(text);
      });
  if (imported.ok())
    result.module = std::move(*imported);
  else
    result.status = imported.status();
  return result;
}

inline Tensor floatTensor(std::vector<int64_t> shape,
                          const std::vector<float> &values) {
  return *Tensor::copyOf({DType::F32, std::move(shape)}, values.data());
}
inline std::vector<float> floatsOf(const Tensor &tensor) {
  return {tensor.as<float>(), tensor.as<float>() + tensor.numElements()};
}

} // namespace pipec::onnx::testing

#endif
