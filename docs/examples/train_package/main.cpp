// Trains a package on one made-up batch, prints the losses, shows a parameter
// with its gradient, and saves what was learned.
// Usage: train_package model.pipe learned.safetensors. The package is compiled
// with --loss. Tests: test/install.
#include "pipec/trainer.h"

#include <cstdio>

namespace {

constexpr int kSteps = 50;

int fail(const pipec::Status &status) {
  std::fprintf(stderr, "train_package: %s\n", status.message().c_str());
  return 1;
}

/// Numbers between -1 and 1, or small classes: something that can be learned
/// by heart.
void fillWithPattern(pipec::Tensor &tensor) {
  for (int64_t i = 0; i < tensor.numElements(); ++i)
    if (tensor.dtype() == pipec::DType::F32)
      tensor.as<float>()[i] = static_cast<float>(i * 7 % 13) / 6.5f - 1;
    else if (tensor.dtype() == pipec::DType::I64)
      tensor.as<int64_t>()[i] = i % 3;
}

/// A step's rows of every input and of the labels: microbatches of the first
/// size compiled.
pipec::StatusOr<pipec::TensorMap> makeBatch(const pipec::Package &package,
                                            int64_t microbatches) {
  pipec::TensorMap batch;
  for (const pipec::InputInfo &info : package.inputs()) {
    if (info.role != pipec::InputRole::Data &&
        info.role != pipec::InputRole::Labels)
      continue; // the trainer's own
    pipec::TensorType type = info.types[0];
    if (!info.whole && type.rank() > 0)
      type.shape[0] *= microbatches;
    auto tensor = pipec::Tensor::allocate(type);
    if (!tensor.ok())
      return tensor.status();
    fillWithPattern(*tensor);
    batch.emplace(info.name, *tensor);
  }
  return batch;
}

void showFirstParameter(const pipec::Trainer &trainer) {
  pipec::TensorMap gradients = trainer.gradients();
  for (const auto &[name, tensor] : trainer.trainedParameters())
    if (auto gradient = gradients.find(name); gradient != gradients.end()) {
      std::printf("%s: %s, first value %g, its gradient %g\n", name.c_str(),
                  tensor.type().str().c_str(),
                  static_cast<double>(tensor.as<float>()[0]),
                  static_cast<double>(gradient->second.as<float>()[0]));
      return;
    }
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3)
    return fail(pipec::invalidArgument(
        "usage: train_package model.pipe learned.safetensors"));

  auto package = pipec::Package::open(argv[1]);
  if (!package.ok())
    return fail(package.status());
  pipec::TrainerOptions options;
  options.optimizer.kind = "adamw";
  options.optimizer.lr = 1e-2;
  auto trainer = pipec::Trainer::create(*package, options);
  if (!trainer.ok())
    return fail(trainer.status());
  auto batch = makeBatch(*package, (*trainer)->microbatches());
  if (!batch.ok())
    return fail(batch.status());

  for (int i = 0; i < kSteps; ++i) {
    auto result = (*trainer)->step(*batch);
    if (!result.ok())
      return fail(result.status());
    if (i % 10 == 0 || i + 1 == kSteps)
      std::printf("step %lld: loss %.4f, gradient norm %.4f\n",
                  static_cast<long long>(result->step), result->loss,
                  result->gradientNorm);
  }
  showFirstParameter(**trainer);
  std::printf("%zu tensors of optimizer state\n",
              (*trainer)->optimizerState().size());
  pipec::Status saved = (*trainer)->saveParameters(argv[2], true);
  if (!saved.ok())
    return fail(saved);
  std::printf("wrote %s\n", argv[2]);
  return 0;
}
