// The public face of the ONNX frontend: see OnnxModel.h.
//
// In: a path. Out: an OnnxModel. Tests: test/unit/frontends/.
#include "frontends/onnx/import/OnnxModel.h"

#include "frontends/onnx/import/Importer.h"
#include "frontends/onnx/import/Unsupported.h"
#include "frontends/onnx/names/Names.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <set>

namespace pipec::onnx {

struct OnnxModel::Impl {
  std::unique_ptr<Model> model;

  /// Made once for each set of --tie, --untie and --names: it goes over the
  /// whole graph, and compares tensors.
  const StatusOr<WeightTable> &weights(const ImportOptions &options);

private:
  using Requests = std::tuple<std::vector<std::pair<std::string, std::string>>,
                              std::vector<std::string>, std::string>;
  std::map<Requests, StatusOr<WeightTable>> tables;
};

OnnxModel::OnnxModel() = default;
OnnxModel::~OnnxModel() = default;

StatusOr<std::unique_ptr<OnnxModel>>
OnnxModel::open(std::shared_ptr<const MappedFile> file) {
  PIPEC_ASSIGN_OR_RETURN(auto opened, openModel(std::move(file)));
  std::unique_ptr<OnnxModel> model(new OnnxModel);
  model->impl = std::make_unique<Impl>();
  model->impl->model = std::move(opened);
  return model;
}

StatusOr<std::unique_ptr<OnnxModel>> OnnxModel::open(const std::string &path) {
  PIPEC_ASSIGN_OR_RETURN(auto file, MappedFile::open(path));
  return open(std::move(file));
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

const StatusOr<WeightTable> &
OnnxModel::Impl::weights(const ImportOptions &options) {
  const Requests requests(options.ties, options.unties, options.names);
  auto found = tables.find(requests);
  if (found == tables.end())
    found = tables.emplace(requests, makeWeightTable(*model, options)).first;
  return found->second;
}

StatusOr<mlir::OwningOpRef<mlir::ModuleOp>>
OnnxModel::import(mlir::MLIRContext &context, const ImportOptions &options,
                  const Notice &notice) const {
  PIPEC_RETURN_IF_ERROR(checkSupported(*impl->model));
  ImportOptions told = options;
  told.progress = notice;
  const StatusOr<WeightTable> &weights = impl->weights(told);
  PIPEC_RETURN_IF_ERROR(weights.status());
  return importModel(context, *impl->model, *weights, options, notice);
}

std::vector<std::string>
OnnxModel::foldedParameters(const ImportOptions &options) const {
  const StatusOr<WeightTable> &weights = impl->weights(options);
  return weights.ok() ? weights->folded : std::vector<std::string>();
}

LostParameters OnnxModel::lostParameters(const ImportOptions &options) const {
  const StatusOr<WeightTable> &weights = impl->weights(options);
  return weights.ok() ? findLost(*impl->model, *weights) : LostParameters();
}

TrainingLosses OnnxModel::trainingLosses(const ImportOptions &options) const {
  const StatusOr<WeightTable> &weights = impl->weights(options);
  if (!weights.ok())
    return {};
  return {findComputed(*impl->model, *weights),
          findPossibleBuffers(*impl->model, *weights),
          findGuessedNames(*impl->model, *weights),
          findPaddedTables(*impl->model, *weights)};
}

} // namespace pipec::onnx
