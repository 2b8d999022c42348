// A device whose memory the host is told not to touch: weights, inputs and
// outputs then go through copies, as they would on an accelerator.
#include "runtime/device/cpu/cpu_device.h"
#include "runtime/executor/pipeline.h"
#include "runtime/transport/local/local_transport.h"
#include "test/unit/runtime/TestSession.h"

namespace pipec::test {
namespace {

/// Host memory, but checks that kernels see nothing that was not allocated
/// here.
class SeparateDevice : public CpuDevice {
public:
  SeparateDevice() { properties.sharesHostMemory = false; }
  StatusOr<void *> allocate(size_t bytes) override {
    auto memory = CpuDevice::allocate(bytes);
    if (memory.ok())
      owned[static_cast<uint8_t *>(*memory)] = bytes;
    return memory;
  }
  Status launch(Stream &stream, Kernel &kernel,
                const std::vector<TensorView> &inputs,
                const std::vector<TensorView> &outputs,
                void *scratch) override {
    for (const auto *views : {&inputs, &outputs})
      for (const TensorView &view : *views)
        if (!owns(view))
          return internalError("a kernel was given host memory");
    return CpuDevice::launch(stream, kernel, inputs, outputs, scratch);
  }

private:
  bool owns(const TensorView &view) const {
    auto it = owned.upper_bound(view.as<uint8_t>());
    if (it == owned.begin())
      return false;
    --it;
    return view.as<uint8_t>() + view.type.byteSize() <= it->first + it->second;
  }
  std::map<uint8_t *, size_t> owned;
};

TEST(SeparateMemoryTest, SameBitsAsInHostMemory) {
  TestSession s(mlp(3, {3, 2}));
  const TensorMap inputs = {{"x", pattern({10, 4}, 2)}};
  auto expected = s.run(inputs, 4);
  ASSERT_TRUE(expected.ok());

  SeparateDevice device;
  LocalTransport transport(device);
  auto pipeline =
      Pipeline::create(s.package, referenceOptions(), device, transport);
  ASSERT_TRUE(pipeline.ok()) << pipeline.status().message();
  for (int i = 0; i < 3; ++i) {
    auto outputs = (*pipeline)->run(inputs, pieces(4));
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    EXPECT_TRUE(sameBits(outputs->at("y"), expected->at("y")));
  }
}

} // namespace
} // namespace pipec::test
