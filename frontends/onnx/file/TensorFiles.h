// Where a TensorProto's elements lie, checked.
//
// In: TensorProtos and the payload places of WireScanner.h. Out: TensorSource
// values. Tests: test/unit/frontends/TensorSourceTest.cpp.
#ifndef PIPEC_FRONTENDS_ONNX_FILE_TENSORFILES_H
#define PIPEC_FRONTENDS_ONNX_FILE_TENSORFILES_H

#include "frontends/common/TensorSource.h"
#include "frontends/onnx/file/WireScanner.h"

#include "onnx-ml.pb.h"

namespace pipec::onnx {

using namespace frontend;

/// DType of an ONNX element type, or an error (Unsupported) that names it.
StatusOr<DType> dtypeFromOnnx(int elementType);

/// Maps each external file once. Locations are relative to the model's folder
/// and may not leave it.
class TensorFiles {
public:
  TensorFiles(std::string folder, std::shared_ptr<const MappedFile> model)
      : folder(std::move(folder)), model(std::move(model)) {}

  /// Checks dtype, dims, byte count and place of `tensor`; `payload` is its
  /// part in the model file, if left out.
  StatusOr<TensorSource> locate(const ::onnx::TensorProto &tensor,
                                const Payload *payload);

private:
  StatusOr<std::shared_ptr<const MappedFile>> open(const std::string &location);
  StatusOr<TensorSource> locateExternal(const ::onnx::TensorProto &tensor,
                                        TensorSource source);

  std::string folder;
  std::shared_ptr<const MappedFile> model;
  std::map<std::string, std::shared_ptr<const MappedFile>> files;
};

/// Elements of a tensor whose payload is in the message. Errors: DataLoss for a
/// wrong count.
StatusOr<Tensor> decodeTensor(const ::onnx::TensorProto &tensor,
                              const TensorType &type);

} // namespace pipec::onnx

#endif
