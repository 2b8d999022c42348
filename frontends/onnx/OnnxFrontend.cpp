// The public face of the ONNX frontend: see OnnxFrontend.h.
//
// In: a path. Out: an OnnxModel. Tests: test/unit/frontends/.
#include "frontends/onnx/OnnxFrontend.h"

#include "frontends/onnx/Importer.h"
#include "frontends/onnx/WeightTable.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <set>

namespace pipec::onnx {

struct OnnxModel::Impl {
  std::unique_ptr<Model> model;

  /// Made once: it goes over the whole graph, and compares tied tables. Empty
  /// where a tensor cannot be read, which the import reports.
  const WeightTable &weights();

private:
  std::optional<WeightTable> table;
};

OnnxModel::OnnxModel() = default;
OnnxModel::~OnnxModel() = default;

StatusOr<std::unique_ptr<OnnxModel>> OnnxModel::open(const std::string &path) {
  PIPEC_ASSIGN_OR_RETURN(auto opened, openModel(path));
  std::unique_ptr<OnnxModel> model(new OnnxModel);
  model->impl = std::make_unique<Impl>();
  model->impl->model = std::move(opened);
  return model;
}

const ModelInterface &OnnxModel::interface() const {
  return impl->model->interface;
}

std::vector<std::string> OnnxModel::files() const {
  std::set<std::string> paths;
  for (const Initializer &initializer : impl->model->initializers)
    if (initializer.source.inFile())
      paths.insert(initializer.source.file->path());
  for (const auto &[place, source] : impl->model->attributeTensors)
    if (source.inFile())
      paths.insert(source.file->path());
  return {paths.begin(), paths.end()};
}

StatusOr<mlir::OwningOpRef<mlir::ModuleOp>>
OnnxModel::import(mlir::MLIRContext &context, const ImportOptions &options,
                  const Notice &notice) const {
  return importModel(context, *impl->model, options, notice);
}

const WeightTable &OnnxModel::Impl::weights() {
  if (!table) {
    auto made = makeWeightTable(*model, ImportOptions());
    table = made.ok() ? std::move(*made) : WeightTable();
  }
  return *table;
}

std::vector<std::string> OnnxModel::foldedParameters() const {
  return impl->weights().folded;
}

TrainingLosses OnnxModel::trainingLosses() const {
  return {findComputed(*impl->model, impl->weights()),
          findPossibleBuffers(*impl->model, impl->weights())};
}

} // namespace pipec::onnx
