// Tensors of exact size, runs and comparisons for the kernel tests. In: values
// as f64. Out: tensors, and expectations that name the element that is wrong.
#include "test/unit/kernels/KernelTest.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>

namespace pipec::test {
namespace {

template <typename F>
void withElement(DType dtype, void *data, int64_t i, F &&f) {
  switch (dtype) {
#define PIPEC_CASE(d, T)                                                       \
  case DType::d:                                                               \
    return f(static_cast<T *>(data)[i]);
    PIPEC_CASE(Bool, uint8_t)
    PIPEC_CASE(I8, int8_t)
    PIPEC_CASE(I16, int16_t)
    PIPEC_CASE(I32, int32_t)
    PIPEC_CASE(I64, int64_t)
    PIPEC_CASE(U8, uint8_t)
    PIPEC_CASE(U16, uint16_t)
    PIPEC_CASE(U32, uint32_t)
    PIPEC_CASE(U64, uint64_t)
    PIPEC_CASE(F16, uint16_t)
    PIPEC_CASE(BF16, uint16_t)
    PIPEC_CASE(F32, float)
    PIPEC_CASE(F64, double)
#undef PIPEC_CASE
  }
}

} // namespace

Tensor blank(const TensorType &type, size_t shift) {
  void *memory = nullptr;
  const size_t size = type.byteSize();
  if (::posix_memalign(&memory, 64, size + shift + (size + shift == 0)) != 0)
    std::abort();
  std::memset(memory, 0xcd, size + shift);
  return Tensor::wrap(type, static_cast<char *>(memory) + shift,
                      std::shared_ptr<const void>(memory, [](const void *p) {
                        std::free(const_cast<void *>(p));
                      }));
}

Tensor make(DType dtype, const Shape &shape, const Values &values,
            size_t shift) {
  Tensor tensor = blank({dtype, shape}, shift);
  EXPECT_EQ(static_cast<size_t>(tensor.numElements()), values.size());
  for (size_t i = 0; i < values.size(); ++i)
    withElement(dtype, tensor.data(), static_cast<int64_t>(i), [&](auto &to) {
      using T = std::decay_t<decltype(to)>;
      if (dtype == DType::F16)
        to = static_cast<T>(floatToHalf(static_cast<float>(values[i])));
      else if (dtype == DType::BF16)
        to = static_cast<T>(floatToBfloat16(static_cast<float>(values[i])));
      else if (values[i] < 0 && std::is_unsigned_v<T>)
        to = static_cast<T>(static_cast<int64_t>(values[i]));
      else
        to = static_cast<T>(values[i]);
    });
  return tensor;
}

Tensor random(DType dtype, const Shape &shape, unsigned seed, int range) {
  std::mt19937 engine(seed);
  Values values(static_cast<size_t>(TensorType{dtype, shape}.numElements()));
  for (double &value : values) {
    const double unit = engine() * 0x1p-31 - 1;
    value = range == 0 ? unit
                       : std::floor((unit + 1) / 2 * (2 * range + 1)) - range;
    if (dtype == DType::Bool)
      value = unit > 0;
    if (isUnsignedInt(dtype))
      value = std::abs(value);
  }
  return make(dtype, shape, values);
}

Values values(const Tensor &tensor) {
  Values result;
  for (int64_t i = 0; i < tensor.numElements(); ++i)
    withElement(
        tensor.dtype(), const_cast<void *>(tensor.data()), i, [&](auto &from) {
          if (tensor.dtype() == DType::F16)
            result.push_back(halfToFloat(static_cast<uint16_t>(from)));
          else if (tensor.dtype() == DType::BF16)
            result.push_back(bfloat16ToFloat(static_cast<uint16_t>(from)));
          else
            result.push_back(static_cast<double>(from));
        });
  return result;
}

std::string bytes(const Tensor &tensor) {
  return std::string(static_cast<const char *>(tensor.data()),
                     tensor.byteSize());
}

double tolerance(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return 0x1p-10;
  case DType::BF16:
    return 0x1p-7;
  case DType::F32:
    return 0x1p-20;
  case DType::F64:
    return 0x1p-48;
  default:
    return 0;
  }
}

StatusOr<std::vector<Tensor>> Op::tryRun(const std::vector<Tensor> &inputs,
                                         const std::vector<TensorType> &outputs,
                                         bool referenceOnly) {
  desc.inputs.clear();
  desc.outputs = outputs;
  std::vector<TensorView> in;
  for (const Tensor &tensor : inputs) {
    desc.inputs.push_back(tensor.type());
    in.push_back(tensor.view());
  }
  PIPEC_ASSIGN_OR_RETURN(auto kernel,
                         KernelRegistry::get().create(desc, referenceOnly));
  std::vector<Tensor> first;
  for (int round = 0; round < 2; ++round) {
    std::vector<Tensor> results;
    std::vector<TensorView> out;
    for (const TensorType &type : outputs) {
      results.push_back(blank(type));
      if (round == 1 && type.byteSize())
        std::memset(results.back().data(), 0x3e, type.byteSize());
      out.push_back(results.back().view());
    }
    Tensor scratch =
        blank({DType::U8, {static_cast<int64_t>(kernel->scratchBytes())}});
    PIPEC_RETURN_IF_ERROR(kernel->run(in, out, scratch.data()));
    if (round == 0)
      first = results;
    else
      for (size_t i = 0; i < results.size(); ++i)
        EXPECT_EQ(bytes(first[i]), bytes(results[i]))
            << desc.name << ": two runs differ";
  }
  return first;
}

Tensor Op::run(const std::vector<Tensor> &inputs, const TensorType &output,
               bool referenceOnly) {
  auto results = tryRun(inputs, {output}, referenceOnly);
  if (!results.ok()) {
    ADD_FAILURE() << results.status().message();
    return blank(output);
  }
  return (*results)[0];
}

Status Op::tryMake(const std::vector<TensorType> &inputs,
                   const std::vector<TensorType> &outputs) {
  desc.inputs = inputs;
  desc.outputs = outputs;
  return KernelRegistry::get().create(desc, true).status();
}

void expectValues(const Tensor &actual, const Values &expected, double scale) {
  const Values got = values(actual);
  ASSERT_EQ(got.size(), expected.size());
  const double eps = tolerance(actual.dtype()) * scale;
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(got[i]))
          << "element " << i << " of " << actual.type().str() << " is "
          << got[i];
    } else if (std::isinf(expected[i])) {
      EXPECT_EQ(got[i], expected[i])
          << "element " << i << " of " << actual.type().str();
    } else {
      EXPECT_NEAR(got[i], expected[i],
                  eps * std::max(1.0, std::abs(expected[i])))
          << "element " << i << " of " << actual.type().str();
    }
  }
}

void expectRefused(Op op, const std::vector<TensorType> &inputs,
                   const std::vector<TensorType> &outputs,
                   const std::string &part) {
  const Status status = op.tryMake(inputs, outputs);
  EXPECT_FALSE(status.ok()) << op.desc.name << " was made";
  EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
}

} // namespace pipec::test
