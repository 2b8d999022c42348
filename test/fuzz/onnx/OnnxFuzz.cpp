// Any bytes are a model or an error: opens and imports what the fuzzer makes.
//
// In: the bytes of a file. Every symbolic size is 2; large models are skipped,
// as their size is no fault. What else may be asked for (shapes of inputs,
// ties, training) follows from the number of bytes. Seeds: OnnxFuzzSeeds.cpp,
// seeds.py.
#include "frontends/OpenModel.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

using namespace pipec;

namespace {

/// A file in memory, under a path that can be opened.
class MemoryFile {
public:
  MemoryFile(const uint8_t *data, size_t size)
      : descriptor(memfd_create("model.onnx", 0)) {
    valid = descriptor >= 0 &&
            write(descriptor, data, size) == static_cast<ssize_t>(size);
  }
  ~MemoryFile() {
    if (descriptor >= 0)
      close(descriptor);
  }
  std::string path() const {
    return "/proc/self/fd/" + std::to_string(descriptor);
  }
  bool valid = false;

private:
  int descriptor;
};

/// Elements of all inputs stay few, so that folding stays fast.
bool isSmall(const frontend::ModelInterface &interface) {
  for (const auto &input : interface.inputs)
    for (const auto &dim : input.shape)
      if (dim.size > 64)
        return false;
  return true;
}

/// A context serves many inputs: making one costs more than most imports. What
/// it keeps would grow without end, so it is replaced now and then.
mlir::MLIRContext &freshContext() {
  constexpr int kInputs = 256;
  static int used = 0;
  static std::unique_ptr<mlir::MLIRContext> context;
  if (!context || ++used % kInputs == 0)
    context = std::make_unique<mlir::MLIRContext>(
        mlir::MLIRContext::Threading::DISABLED);
  return *context;
}

/// Shapes of all inputs for odd sizes; ties of the names that seeds have.
void addRequests(frontend::ImportOptions &options,
                 const frontend::ModelInterface &interface, size_t size) {
  if (size % 2)
    for (const auto &input : interface.inputs)
      for (const auto &dim : input.shape)
        options.inputShapes[input.name].push_back(dim.size < 0 ? 2 : dim.size);
  options.training = size % 5 < 3;
  if (size / 2 % 3 == 1)
    options.unties = {"head.weight"};
  if (size / 2 % 3 == 2)
    options.ties = {{"wte.weight", "head.weight"}};
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  MemoryFile file(data, size);
  if (!file.valid)
    return 0;
  auto model = frontend::openModel(file.path());
  if (!model.ok() || !isSmall((*model)->interface()))
    return 0;
  frontend::ImportOptions options;
  for (const auto &input : (*model)->interface().inputs)
    for (const auto &dim : input.shape)
      if (!dim.symbol.empty())
        options.bindings[dim.symbol] = 2;
  addRequests(options, (*model)->interface(), size);
  auto module =
      (*model)->import(freshContext(), options, [](const std::string &) {});
  (void)module;
  (*model)->foldedParameters(options);
  (*model)->trainingLosses(options);
  return 0;
}
