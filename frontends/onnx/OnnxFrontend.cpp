// The public face of the ONNX frontend: see OnnxFrontend.h.
//
// In: a path. Out: an OnnxModel. Tests: test/unit/frontends/.
#include "frontends/onnx/OnnxFrontend.h"

#include "frontends/onnx/Importer.h"
#include "frontends/onnx/TrainingLosses.h"

namespace pipec::onnx {

struct OnnxModel::Impl {
  std::unique_ptr<Model> model;
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

StatusOr<mlir::OwningOpRef<mlir::ModuleOp>>
OnnxModel::import(mlir::MLIRContext &context, const ImportOptions &options,
                  const Notice &notice) const {
  return importModel(context, *impl->model, options, notice);
}

std::vector<std::string> OnnxModel::foldedParameters() const {
  auto table = makeWeightTable(*impl->model, ImportOptions());
  return table.ok() ? table->folded : std::vector<std::string>();
}

TrainingLosses OnnxModel::trainingLosses() const {
  auto table = makeWeightTable(*impl->model, ImportOptions());
  return table.ok() ? findTrainingLosses(*impl->model, *table)
                    : TrainingLosses();
}

} // namespace pipec::onnx
