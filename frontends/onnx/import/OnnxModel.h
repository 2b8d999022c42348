// An ONNX file as an OpenedModel.
//
// In: an .onnx file, read by map. ONNX IR versions up to that of onnx 1.23,
// opsets kOldestOpset to kNewestOpset of the default domain. Out: what
// OpenedModel.h says. Tests: test/unit/frontends/.
#ifndef PIPEC_FRONTENDS_ONNX_IMPORT_ONNXMODEL_H
#define PIPEC_FRONTENDS_ONNX_IMPORT_ONNXMODEL_H

#include "frontends/common/OpenedModel.h"
#include "runtime/base/mapped_file.h"

namespace pipec::onnx {

class OnnxModel final : public frontend::OpenedModel {
public:
  /// Reads and checks the whole file (not the tensors' bytes).
  static StatusOr<std::unique_ptr<OnnxModel>>
  open(std::shared_ptr<const MappedFile> file);
  static StatusOr<std::unique_ptr<OnnxModel>> open(const std::string &path);
  ~OnnxModel() override;

  const frontend::ModelInterface &interface() const override;
  std::vector<std::string> files() const override;
  StatusOr<mlir::OwningOpRef<mlir::ModuleOp>>
  import(mlir::MLIRContext &context, const frontend::ImportOptions &options,
         const frontend::Notice &notice) const override;
  std::vector<std::string>
  foldedParameters(const frontend::ImportOptions &options = {}) const override;
  frontend::LostParameters
  lostParameters(const frontend::ImportOptions &options = {}) const override;
  frontend::TrainingLosses
  trainingLosses(const frontend::ImportOptions &options = {}) const override;

private:
  OnnxModel();
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace pipec::onnx

#endif
