// Checks of TensorProto and decoding of typed fields: see TensorFiles.h.
//
// In: TensorProtos. Out: TensorSources, or errors that say what is wrong (the
// caller names the tensor). Tests: test/unit/frontends/TensorSourceTest.cpp.
#include "frontends/onnx/file/TensorFiles.h"

#include <cstring>

namespace pipec::onnx {

using Proto = ::onnx::TensorProto;

StatusOr<DType> dtypeFromOnnx(int elementType) {
  switch (elementType) {
  case Proto::FLOAT:
    return DType::F32;
  case Proto::DOUBLE:
    return DType::F64;
  case Proto::FLOAT16:
    return DType::F16;
  case Proto::BFLOAT16:
    return DType::BF16;
  case Proto::INT8:
    return DType::I8;
  case Proto::INT16:
    return DType::I16;
  case Proto::INT32:
    return DType::I32;
  case Proto::INT64:
    return DType::I64;
  case Proto::UINT8:
    return DType::U8;
  case Proto::UINT16:
    return DType::U16;
  case Proto::UINT32:
    return DType::U32;
  case Proto::UINT64:
    return DType::U64;
  case Proto::BOOL:
    return DType::Bool;
  default:
    break;
  }
  std::string name =
      Proto::DataType_IsValid(elementType)
          ? Proto::DataType_Name(static_cast<Proto::DataType>(elementType))
          : std::to_string(elementType);
  return unsupported(
      "element type " + name +
      " is not supported; pipec knows bool, integers of 8 to 64 bits, "
      "float16, bfloat16, float and double");
}

/// Typed fields hold narrow types widened: each element is cut down to the
/// tensor's own width.
template <typename Target, typename Field>
static void narrow(const Field &field, void *out) {
  auto *elements = static_cast<Target *>(out);
  for (int i = 0; i < field.size(); ++i)
    elements[i] = static_cast<Target>(field.Get(i));
}

static int fieldSize(const Proto &tensor, DType dtype) {
  switch (dtype) {
  case DType::F32:
    return tensor.float_data_size();
  case DType::F64:
    return tensor.double_data_size();
  case DType::I64:
    return tensor.int64_data_size();
  case DType::U32:
  case DType::U64:
    return tensor.uint64_data_size();
  default:
    return tensor.int32_data_size();
  }
}

static void copyField(const Proto &tensor, DType dtype, void *out) {
  switch (dtype) {
  case DType::F32:
    return narrow<float>(tensor.float_data(), out);
  case DType::F64:
    return narrow<double>(tensor.double_data(), out);
  case DType::I64:
    return narrow<int64_t>(tensor.int64_data(), out);
  case DType::U64:
    return narrow<uint64_t>(tensor.uint64_data(), out);
  case DType::U32:
    return narrow<uint32_t>(tensor.uint64_data(), out);
  case DType::I32:
    return narrow<int32_t>(tensor.int32_data(), out);
  case DType::I16:
  case DType::U16:
  case DType::F16:
  case DType::BF16:
    return narrow<uint16_t>(tensor.int32_data(), out);
  case DType::Bool:
    for (int i = 0; i < tensor.int32_data_size(); ++i)
      static_cast<uint8_t *>(out)[i] = tensor.int32_data(i) != 0;
    return;
  default:
    return narrow<uint8_t>(tensor.int32_data(), out);
  }
}

static Status wrongBytes(const TensorType &type, uint64_t got) {
  return dataLoss(type.str() + " needs " + std::to_string(type.byteSize()) +
                  " bytes, the file holds " + std::to_string(got));
}

StatusOr<Tensor> decodeTensor(const Proto &tensor, const TensorType &type) {
  if (tensor.has_raw_data()) {
    if (tensor.raw_data().size() != type.byteSize())
      return wrongBytes(type, tensor.raw_data().size());
    auto copy = Tensor::copyOf(type, tensor.raw_data().data());
    if (copy.ok() && type.dtype == DType::Bool)
      for (size_t i = 0; i < type.byteSize(); ++i)
        copy->as<uint8_t>()[i] = copy->as<uint8_t>()[i] != 0;
    return copy;
  }
  int count = fieldSize(tensor, type.dtype);
  if (count != type.numElements())
    return dataLoss(type.str() + " needs " +
                    std::to_string(type.numElements()) +
                    " elements, the file holds " + std::to_string(count));
  PIPEC_ASSIGN_OR_RETURN(Tensor decoded, Tensor::allocate(type));
  copyField(tensor, type.dtype, decoded.data());
  return decoded;
}

/// Whether the bytes of `payload` are the elements as they lie in memory.
static bool liesInPlace(const Payload &payload, DType dtype) {
  return payload.field == Proto::kRawDataFieldNumber ||
         (payload.field == Proto::kFloatDataFieldNumber &&
          dtype == DType::F32) ||
         (payload.field == Proto::kDoubleDataFieldNumber &&
          dtype == DType::F64);
}

StatusOr<TensorSource> TensorFiles::locate(const Proto &tensor,
                                           const Payload *payload) {
  TensorSource source;
  PIPEC_ASSIGN_OR_RETURN(source.type.dtype, dtypeFromOnnx(tensor.data_type()));
  if (tensor.has_segment())
    return unsupported("tensors in segments are not supported");
  source.type.shape.assign(tensor.dims().begin(), tensor.dims().end());
  PIPEC_ASSIGN_OR_RETURN(size_t bytes, checkedByteSize(source.type));
  if (tensor.data_location() == Proto::EXTERNAL)
    return locateExternal(tensor, std::move(source));
  if (!payload || (payload->length <= kInlinePayloadLimit &&
                   !liesInPlace(*payload, source.type.dtype))) {
    PIPEC_ASSIGN_OR_RETURN(source.inlined, decodeTensor(tensor, source.type));
    return source;
  }
  bool fits = liesInPlace(*payload, source.type.dtype);
  if (!fits)
    return dataLoss("the elements of " + source.type.str() +
                    " lie in the field of another type");
  if (payload->length != bytes)
    return wrongBytes(source.type, payload->length);
  source.file = model;
  source.offset = payload->offset;
  source.length = payload->length;
  return source;
}

} // namespace pipec::onnx
