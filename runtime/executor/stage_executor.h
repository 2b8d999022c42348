// One stage on one device: its weights, its memory and its programs.
#ifndef PIPEC_RUNTIME_EXECUTOR_STAGE_EXECUTOR_H
#define PIPEC_RUNTIME_EXECUTOR_STAGE_EXECUTOR_H

#include "pipec/session.h"
#include "runtime/executor/memory_need.h"
#include "runtime/executor/prepared_program.h"
#include "runtime/package/weights.h"

namespace pipec {

/// Order of calls: create, allocate, then per microbatch bind inputs and
/// forward. Thread rule: externally synchronised. Keeps references to package
/// and device.
class StageExecutor {
public:
  /// Maps the weights of `stage` and makes its kernels; allocates no buffers
  /// yet.
  static StatusOr<std::unique_ptr<StageExecutor>>
  create(const Package::Impl &package, size_t stage, Device &device,
         const SessionOptions &options);

  MemoryNeed memoryNeed() const;
  Status allocate();

  /// Binds input `input` of variant `variant` to device memory.
  void bindInput(size_t variant, size_t input, void *data) {
    programs[variant].bindInput(input, data);
  }
  /// Binds it to host memory that stays valid until the forward ran: in place
  /// where the device can, else through a staging buffer.
  Status bindHostInput(size_t variant, size_t input, const void *data);

  Status forward(size_t variant, int64_t microbatch, const RunControl *control);
  /// Waits for the queued work; its errors name the stage.
  Status synchronize();

  /// Index of the program input that transfer `transfer` feeds, and place of
  /// the value that goes to a transfer or graph output.
  size_t inputOfTransfer(size_t variant, uint32_t transfer) const;
  TensorView outputValue(size_t variant, ProgramOutputDesc::Target target,
                         uint32_t index) const;

  const ProgramDesc &program(size_t variant) const {
    return programs[variant].desc();
  }
  Stream &getStream() { return *stream; }
  Device &getDevice() { return device; }
  size_t stageIndex() const { return stage; }

private:
  StageExecutor(const Package::Impl &package, size_t stage, Device &device)
      : package(package), stage(stage), device(device) {}
  std::vector<uint64_t> stagingSizes() const;
  size_t stagingIndex(const ProgramInputDesc &input) const;
  Status allocateWeights();
  StatusOr<DeviceBuffer> buffer(uint64_t bytes, const char *what);

  const Package::Impl &package;
  const size_t stage;
  Device &device;
  bool checkNumerics = false;
  StageWeights weights;
  std::vector<PreparedProgram> programs; // by variant
  std::unique_ptr<Stream> stream;
  // Shared by the variants: only one runs at a time.
  DeviceBuffer arena, scratch;
  std::vector<DeviceBuffer> literals; // by variant
  std::vector<DeviceBuffer> staging;  // by stagingIndex()
  std::vector<DeviceBuffer>
      deviceWeights; // where the device has memory of its own
};

} // namespace pipec

#endif
