// Batches to graph inputs: see feed.h. In: a checked package and the caller's
// tensors. Out: a pointer for each input and microbatch.
// Tests: test/unit/runtime/TrainerTest.cpp, LossTotalsTest.cpp.
#include "runtime/training/feed.h"

#include <type_traits>

namespace pipec {
namespace {

template <typename T>
int64_t countOther(const Tensor &labels, int64_t ignored) {
  int64_t count = 0;
  for (int64_t i = 0, n = labels.numElements(); i < n; ++i)
    count += static_cast<int64_t>(labels.as<T>()[i]) != ignored;
  return count;
}

StatusOr<int64_t> countLabels(const Tensor &labels, int64_t ignored) {
  switch (labels.dtype()) {
  case DType::I64:
    return countOther<int64_t>(labels, ignored);
  case DType::I32:
    return countOther<int32_t>(labels, ignored);
  case DType::I16:
    return countOther<int16_t>(labels, ignored);
  case DType::I8:
    return countOther<int8_t>(labels, ignored);
  case DType::U8:
    return countOther<uint8_t>(labels, ignored);
  default:
    return invalidArgument("labels are " + labels.type().str() +
                           "; class indices are i64 or i32");
  }
}

StatusOr<Tensor> scalar(const TensorType &type, double value) {
  PIPEC_ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(type));
  if (type.dtype == DType::F64)
    *tensor.as<double>() = value;
  else if (type.dtype == DType::F32)
    *tensor.as<float>() = static_cast<float>(value);
  else
    return dataLoss("the loss scale is " + type.str() +
                    ", expected f32 or f64");
  return tensor;
}

/// Calls `use` with a T of the C++ type of `dtype`; false for other types.
template <typename Use> bool withNumber(DType dtype, const Use &use) {
  switch (dtype) {
  case DType::F32:
    use(float());
    return true;
  case DType::F64:
    use(double());
    return true;
  case DType::I64:
    use(int64_t());
    return true;
  case DType::I32:
    use(int32_t());
    return true;
  case DType::I16:
    use(int16_t());
    return true;
  case DType::I8:
    use(int8_t());
    return true;
  case DType::U8:
    use(uint8_t());
    return true;
  default:
    return false;
  }
}

/// Integers wrap, as those of the model do.
void addTo(int64_t &sum, int64_t value) {
  sum = static_cast<int64_t>(static_cast<uint64_t>(sum) +
                             static_cast<uint64_t>(value));
}
void addTo(double &sum, double value) { sum += value; }

} // namespace

void LossTotals::add(const std::map<uint32_t, Tensor> &parts) {
  for (const auto &[input, part] : parts)
    withNumber(part.dtype(), [&, &part = part, &sum = sums[input]](auto zero) {
      using T = decltype(zero);
      auto into = [&](auto &list) {
        list.resize(static_cast<size_t>(part.numElements()), 0);
        for (size_t i = 0; i < list.size(); ++i)
          addTo(list[i], part.as<T>()[i]);
      };
      if constexpr (std::is_floating_point_v<T>)
        into(sum.floats);
      else
        into(sum.integers);
    });
}

StatusOr<Tensor> LossTotals::total(uint32_t input,
                                   const TensorType &type) const {
  PIPEC_ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(type));
  auto found = sums.find(input);
  const bool isKnown = withNumber(type.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < tensor.numElements(); ++i)
      if (found == sums.end())
        tensor.as<T>()[i] = 0;
      else if constexpr (std::is_floating_point_v<T>)
        tensor.as<T>()[i] = static_cast<T>(found->second.floats.at(i));
      else
        tensor.as<T>()[i] = static_cast<T>(found->second.integers.at(i));
  });
  if (!isKnown)
    return dataLoss("a total of the loss is " + type.str() +
                    ", expected f32, f64 or an integer");
  return tensor;
}

StatusOr<double> countForLoss(const Package::Impl &package,
                              const TensorMap &batch, int64_t microbatches) {
  const TrainingDesc &training = *package.training;
  if (training.loss == LossKind::Output)
    return static_cast<double>(microbatches);
  auto labels = batch.find(training.labels);
  if (labels == batch.end())
    return invalidArgument("the batch has no labels '" + training.labels + "'");
  if (training.loss == LossKind::Mse)
    return static_cast<double>(labels->second.numElements());
  PIPEC_ASSIGN_OR_RETURN(int64_t count,
                         countLabels(labels->second, training.ignoreIndex));
  return static_cast<double>(count);
}

StatusOr<Feed> Feed::create(const Package::Impl &package,
                            const TensorMap &inputs, int64_t microbatches,
                            double lossScale, const LossTotals &totals,
                            const RandomKey &key) {
  Feed feed;
  PIPEC_ASSIGN_OR_RETURN(feed.batch, planBatch(package, inputs, microbatches));
  if (feed.batch.count() != microbatches)
    return invalidArgument(
        "the batch makes " + std::to_string(feed.batch.count()) +
        " microbatches, the schedule is for " + std::to_string(microbatches));
  for (uint32_t i = 0; i < package.inputs.size(); ++i) {
    const InputInfo &info = package.inputs[i];
    Tensor tensor;
    if (info.role == InputRole::LossScale) {
      PIPEC_ASSIGN_OR_RETURN(tensor, scalar(info.types[0], lossScale));
    } else if (info.role == InputRole::LossTotal) {
      PIPEC_ASSIGN_OR_RETURN(tensor, totals.total(i, info.types[0]));
    } else if (info.role != InputRole::RandomKey) {
      tensor = inputs.at(info.name);
      if (reinterpret_cast<uintptr_t>(tensor.data()) %
          byteSize(tensor.dtype())) {
        PIPEC_ASSIGN_OR_RETURN(tensor,
                               Tensor::copyOf(tensor.type(), tensor.data()));
      }
    } else if (info.types[0] != TensorType{DType::I64, {3}}) {
      return dataLoss("the random key is " + info.types[0].str() +
                      ", expected i64[3]");
    }
    feed.inputs.push_back(std::move(tensor));
  }
  for (int64_t k = 0; k < microbatches; ++k)
    feed.keys.push_back(
        {static_cast<int64_t>(key.seed), key.step, key.firstMicrobatch + k});
  return feed;
}

const void *Feed::data(const Package::Impl &package, uint32_t input,
                       int64_t k) const {
  if (package.inputs[input].role == InputRole::RandomKey)
    return keys[k].data();
  const Microbatch &piece = batch.microbatches[k];
  const uint8_t *data = inputs[input].as<uint8_t>();
  const TensorType &type = package.inputs[input].types[piece.variant];
  if (package.isCut(input, piece.variant) && type.shape[0] > 0)
    data += type.byteSize() / static_cast<size_t>(type.shape[0]) *
            static_cast<size_t>(piece.firstRow);
  return data;
}

} // namespace pipec
