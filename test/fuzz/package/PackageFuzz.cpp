// Fuzzes what an untrusted package can reach: the reader in memory, then, for
// packages that pass, weights, kernels and one run, or step, on zeros.
// In: the chunks of FuzzFiles.h. Seeds come from PackageFuzzSeeds.cpp.
#include "pipec/session.h"
#include "pipec/trainer.h"
#include "runtime/package/files.h"
#include "test/fuzz/package/FuzzFiles.h"
#include "test/unit/runtime/PackageBuilder.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace {

using namespace pipec;

/// Larger ones only cost time.
constexpr uint64_t kMemoryLimit = uint64_t(1) << 20;

void writeFiles(const std::string &root,
                const std::map<std::string, std::string> &files) {
  std::filesystem::remove_all(root);
  for (const auto &[name, content] : files) {
    const std::filesystem::path path = root + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
  }
}

bool makeZeros(const Package &package, int64_t microbatches,
               TensorMap &inputs) {
  uint64_t total = 0;
  for (const InputInfo &info : package.inputs()) {
    if (info.role != InputRole::Data && info.role != InputRole::Labels)
      continue;
    TensorType type = info.types[0];
    if (!info.whole && !type.shape.empty())
      type.shape[0] *= microbatches;
    const size_t bytes = type.byteSize();
    if (bytes > kMemoryLimit || (total += bytes) > kMemoryLimit)
      return false;
    auto tensor = Tensor::allocate(type);
    if (!tensor.ok())
      return false;
    std::memset(tensor->data(), 0, bytes);
    inputs.emplace(info.name, *tensor);
  }
  for (const OutputInfo &info : package.outputs())
    if ((total += info.types[0].byteSize()) > kMemoryLimit)
      return false;
  return true;
}

void trainPackage(const Package &package) {
  constexpr int64_t kMostMicrobatches = 8;
  TrainerOptions options;
  options.referenceKernels = true;
  options.memoryLimit = kMemoryLimit;
  auto trainer = Trainer::create(package, options);
  TensorMap batch;
  if (trainer.ok() && (*trainer)->microbatches() <= kMostMicrobatches &&
      makeZeros(package, (*trainer)->microbatches(), batch))
    (void)(*trainer)->step(batch).ok();
}

void runPackage(const std::string &root) {
  auto package = Package::open(root);
  // What the reader took from memory it must take from files.
  if (!package.ok())
    std::abort();
  if (package->stages().size() > 4)
    return;
  if (package->isTrainable())
    return trainPackage(*package);
  SessionOptions options;
  options.referenceKernels = true;
  options.memoryLimit = kMemoryLimit;
  TensorMap inputs;
  if (!makeZeros(*package, /*microbatches=*/1, inputs))
    return;
  if (auto session = Session::create(*package, options); session.ok())
    (void)(*session)->run(inputs, {}).ok();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const test::TempFolder folder;
  const auto files = test::unpackFiles(data, size);
  if (!readPackage(*memoryFiles(files)).ok())
    return 0;
  writeFiles(folder / "m.pipe", files);
  runPackage(folder / "m.pipe");
  return 0;
}
