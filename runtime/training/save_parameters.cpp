// What a trainer learned, as a file that PyTorch's users open. Tests:
// test/unit/compiler/CApiTrainingTest.cpp, test/e2e/cli.
#include "pipec/trainer.h"
#include "runtime/base/safetensors.h"
#include "runtime/training/trainer_impl.h"

namespace pipec {

Status Trainer::saveParameters(const std::string &path, bool overwrite) const {
  PIPEC_ASSIGN_OR_RETURN(const auto use, impl->enter());
  TensorMap tensors = parameters();
  for (const auto &[name, tensor] : buffers())
    tensors.emplace(name, tensor);
  for (const auto &[name, others] : aliases())
    if (auto found = tensors.find(name); found != tensors.end()) {
      const Tensor tensor = found->second;
      for (const std::string &alias : others)
        tensors.emplace(alias, tensor);
    }
  return saveSafetensors(path, tensors, overwrite);
}

} // namespace pipec
