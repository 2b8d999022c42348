// Merging of outputs: concatenation into the whole-batch tensor, sums and
// means in ascending microbatch order, or a check that all are equal. Where
// microbatches differ in rows, a mean is weighed by them.
// In: one value a microbatch, in order; out: one tensor. Sums of f16 and bf16
// are kept in f32 and rounded once, f32 and f64 in themselves, integers wrap.
// Tests: test/unit/runtime/OutputMergerTest.cpp.
#include "runtime/executor/output_merger.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace pipec {
namespace {

std::string howTo(const OutputInfo &info) {
  return "; compile the model again with --merge " + info.name +
         "=concat|mean|sum|same";
}

Status refuse(const OutputInfo &info, const std::string &why) {
  return invalidArgument("output '" + info.name + "': " + why + howTo(info));
}

/// The type of all microbatches joined along axis 0.
StatusOr<TensorType> concatType(const OutputInfo &info, const BatchPlan &plan) {
  TensorType total = info.types[plan.microbatches[0].variant];
  if (total.shape.empty())
    return refuse(info, "scalars of several microbatches cannot be joined "
                        "along axis 0");
  total.shape[0] = 0;
  for (const Microbatch &microbatch : plan.microbatches) {
    TensorType piece = info.types[microbatch.variant];
    int64_t rows = 0;
    if (!piece.shape.empty())
      rows = std::exchange(piece.shape[0], total.shape[0]);
    if (piece != total)
      return refuse(info, "microbatches have types that cannot be joined along "
                          "axis 0: " +
                              info.types[microbatch.variant].str() + " and " +
                              info.types[plan.microbatches[0].variant].str());
    if (__builtin_add_overflow(total.shape[0], rows, &total.shape[0]))
      return refuse(info, "the rows of all microbatches overflow");
  }
  return total;
}

Status checkMergeable(const OutputInfo &info, const BatchPlan &plan) {
  if (info.merge == Merge::Unspecified)
    return refuse(info, "how the values of " + std::to_string(plan.count()) +
                            " microbatches join is not given");
  const TensorType &first = info.types[plan.microbatches[0].variant];
  for (const Microbatch &microbatch : plan.microbatches)
    if (const TensorType &type = info.types[microbatch.variant]; type != first)
      return refuse(info, "microbatches have different types, " + first.str() +
                              " and " + type.str());
  if (info.merge == Merge::Mean && !isFloat(first.dtype))
    return refuse(info, "there is no mean of " + first.str());
  if (info.merge == Merge::Sum && first.dtype == DType::Bool)
    return refuse(info, "there is no sum of " + first.str());
  return {};
}

template <typename T> void addInto(void *sum, const void *data, int64_t count) {
  T *to = static_cast<T *>(sum);
  const T *from = static_cast<const T *>(data);
  for (int64_t i = 0; i < count; ++i)
    to[i] = static_cast<T>(to[i] + from[i]);
}

template <typename T>
void addWeighted(void *sum, const void *data, int64_t count, int64_t weight) {
  T *to = static_cast<T *>(sum);
  const T *from = static_cast<const T *>(data);
  for (int64_t i = 0; i < count; ++i)
    to[i] += from[i] * static_cast<T>(weight);
}

template <typename T> void divide(void *sum, int64_t count, int64_t by) {
  T *values = static_cast<T *>(sum);
  for (int64_t i = 0; i < count; ++i)
    values[i] = values[i] / static_cast<T>(by);
}

bool isHalf(DType dtype) { return dtype == DType::F16 || dtype == DType::BF16; }

float widen(DType dtype, uint16_t bits) {
  return dtype == DType::F16 ? halfToFloat(bits) : bfloat16ToFloat(bits);
}

/// Signed integers add as unsigned ones of their width: that wraps.
void addTensor(DType dtype, void *sum, const void *data, int64_t count) {
  if (dtype == DType::F32)
    return addInto<float>(sum, data, count);
  if (dtype == DType::F64)
    return addInto<double>(sum, data, count);
  switch (byteSize(dtype)) {
  case 1:
    return addInto<uint8_t>(sum, data, count);
  case 2:
    return addInto<uint16_t>(sum, data, count);
  case 4:
    return addInto<uint32_t>(sum, data, count);
  default:
    return addInto<uint64_t>(sum, data, count);
  }
}

} // namespace

StatusOr<OutputMerger> OutputMerger::create(const OutputInfo &info,
                                            const BatchPlan &plan) {
  OutputMerger merger;
  merger.info = &info;
  merger.plan = &plan;
  TensorType type = info.types[plan.microbatches[0].variant];
  if (plan.count() > 1) {
    if (info.merge == Merge::Concat) {
      PIPEC_ASSIGN_OR_RETURN(type, concatType(info, plan));
    } else {
      PIPEC_RETURN_IF_ERROR(checkMergeable(info, plan));
    }
    if ((info.merge == Merge::Mean || info.merge == Merge::Sum) &&
        isHalf(type.dtype))
      merger.wide.resize(type.numElements());
    merger.weighRows();
  }
  auto result = Tensor::allocate(std::move(type));
  if (!result.ok())
    return Status(StatusCode::ResourceExhausted,
                  "output '" + info.name + "': " + result.status().message());
  merger.result = std::move(*result);
  return merger;
}

void OutputMerger::weighRows() {
  const std::vector<Microbatch> &all = plan->microbatches;
  if (info->merge == Merge::Mean &&
      std::any_of(all.begin(), all.end(), [&](const Microbatch &microbatch) {
        return microbatch.rows != all[0].rows;
      }))
    for (const Microbatch &microbatch : all)
      weights.push_back(microbatch.rows);
}

Status OutputMerger::add(const void *data) {
  const int64_t k = added++;
  const size_t bytes = typeOf(k).byteSize();
  if (bytes == 0)
    return {};
  if (info->merge == Merge::Concat || plan->count() == 1) {
    std::memcpy(result.as<uint8_t>() + offset, data, bytes);
    offset += bytes;
    return {};
  }
  const DType dtype = result.dtype();
  const int64_t count = result.numElements();
  if (info->merge == Merge::Same) {
    if (k == 0)
      std::memcpy(result.data(), data, bytes);
    else if (std::memcmp(result.data(), data, bytes) != 0)
      return refuse(*info, "is to be the same in all microbatches, but "
                           "microbatch " +
                               std::to_string(k) +
                               " has other values than microbatch 0");
    return {};
  }
  if (!wide.empty()) {
    const uint16_t *halves = static_cast<const uint16_t *>(data);
    const float weight =
        weights.empty() ? 1.0f : static_cast<float>(weights[k]);
    for (int64_t i = 0; i < count; ++i) {
      const float value = widen(dtype, halves[i]) * weight;
      wide[i] = k == 0 ? value : wide[i] + value;
    }
    return {};
  }
  if (!weights.empty()) {
    if (k == 0)
      std::memset(result.data(), 0, bytes);
    if (dtype == DType::F32)
      addWeighted<float>(result.data(), data, count, weights[k]);
    else
      addWeighted<double>(result.data(), data, count, weights[k]);
    return {};
  }
  if (k == 0)
    std::memcpy(result.data(), data, bytes);
  else
    addTensor(dtype, result.data(), data, count);
  return {};
}

Tensor OutputMerger::finish() {
  const int64_t count = result.numElements();
  const bool mean = info->merge == Merge::Mean && plan->count() > 1;
  const int64_t m =
      weights.empty()
          ? plan->count()
          : std::accumulate(weights.begin(), weights.end(), int64_t(0));
  const DType dtype = result.dtype();
  if (mean && !wide.empty())
    divide<float>(wide.data(), count, m);
  else if (mean && dtype == DType::F32)
    divide<float>(result.data(), count, m);
  else if (mean && dtype == DType::F64)
    divide<double>(result.data(), count, m);
  for (size_t i = 0; i < wide.size(); ++i)
    result.as<uint16_t>()[i] =
        dtype == DType::F16 ? floatToHalf(wide[i]) : floatToBfloat16(wide[i]);
  return std::move(result);
}

} // namespace pipec
