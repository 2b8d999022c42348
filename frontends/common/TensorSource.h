// Where a TensorProto's elements lie, checked, and how to read them when they
// are needed.
//
// In: TensorProtos and the payload places of WireScanner.h. Out: TensorSource
// values. Nothing is read from disk but what the caller asks for. Tests:
// test/unit/frontends/TensorSourceTest.cpp.
#ifndef PIPEC_FRONTENDS_COMMON_TENSORSOURCE_H
#define PIPEC_FRONTENDS_COMMON_TENSORSOURCE_H

#include "frontends/onnx/file/WireScanner.h"
#include "pipec/tensor.h"
#include "runtime/base/mapped_file.h"

#include "onnx-ml.pb.h"

namespace pipec::onnx {

/// Either a range of a file, or bytes in memory (`inlined`) for small tensors
/// and for payloads that are not stored as they lie in memory.
struct TensorSource {
  TensorType type;
  std::shared_ptr<const MappedFile> file;
  uint64_t offset = 0, length = 0; // bytes
  Tensor inlined;

  bool inFile() const { return file != nullptr; }
  /// A copy of the elements, aligned. Errors: ResourceExhausted.
  StatusOr<Tensor> load() const;
};

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
