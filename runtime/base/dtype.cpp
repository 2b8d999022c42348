// Element types: sizes, names, and the 16-bit float conversions of the public
// header. In: DType values, also ones outside the enumeration (from files).
// Tests: test/unit/base/DTypeTest.cpp.
#include "pipec/tensor.h"
#include "runtime/base/half.h"

namespace pipec {
namespace {

struct Info {
  DType dtype;
  size_t bytes;
  std::string_view name, safetensors;
};
constexpr Info kTypes[] = {
    {DType::Bool, 1, "bool", "BOOL"}, {DType::I8, 1, "i8", "I8"},
    {DType::I16, 2, "i16", "I16"},    {DType::I32, 4, "i32", "I32"},
    {DType::I64, 8, "i64", "I64"},    {DType::U8, 1, "u8", "U8"},
    {DType::U16, 2, "u16", "U16"},    {DType::U32, 4, "u32", "U32"},
    {DType::U64, 8, "u64", "U64"},    {DType::F16, 2, "f16", "F16"},
    {DType::BF16, 2, "bf16", "BF16"}, {DType::F32, 4, "f32", "F32"},
    {DType::F64, 8, "f64", "F64"},
};

const Info *find(DType dtype) {
  const auto index = static_cast<size_t>(dtype);
  if (index < 1 || index > std::size(kTypes))
    return nullptr;
  return &kTypes[index - 1];
}

} // namespace

size_t byteSize(DType dtype) {
  const Info *info = find(dtype);
  return info ? info->bytes : 0;
}

std::string_view dtypeName(DType dtype) {
  const Info *info = find(dtype);
  return info ? info->name : "unknown";
}

std::string_view safetensorsName(DType dtype) {
  const Info *info = find(dtype);
  return info ? info->safetensors : "UNKNOWN";
}

StatusOr<DType> dtypeFromSafetensors(std::string_view name) {
  for (const Info &info : kTypes)
    if (info.safetensors == name)
      return info.dtype;
  return unsupported("element type '" + std::string(name) +
                     "' is not one that pipec knows");
}

bool isFloat(DType dtype) { return dtype >= DType::F16 && dtype <= DType::F64; }
bool isSignedInt(DType dtype) {
  return dtype >= DType::I8 && dtype <= DType::I64;
}
bool isUnsignedInt(DType dtype) {
  return dtype >= DType::U8 && dtype <= DType::U64;
}

float halfToFloat(uint16_t bits) { return toFloat(Half{bits}); }
uint16_t floatToHalf(float value) { return toHalf(value).bits; }
float bfloat16ToFloat(uint16_t bits) { return toFloat(BFloat16{bits}); }
uint16_t floatToBfloat16(float value) { return toBFloat16(value).bits; }

} // namespace pipec
