// The CPU device: memory, events, errors of kernels, classification of floats.
#include "runtime/device/cpu/cpu_device.h"
#include "test/unit/runtime/TestSession.h"

#include <stdexcept>

namespace pipec::test {
namespace {

class ThrowingKernel : public Kernel {
public:
  explicit ThrowingKernel(bool memory) : memory(memory) {}
  Status run(const std::vector<TensorView> &, const std::vector<TensorView> &,
             void *) override {
    if (memory)
      throw std::bad_alloc();
    throw std::runtime_error("library said no");
  }
  bool memory;
};

TEST(DeviceTest, MemoryIsAligned) {
  CpuDevice device;
  auto buffer = DeviceBuffer::allocate(device, 3);
  ASSERT_TRUE(buffer.ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->get()) % 64, 0u);
  auto none = DeviceBuffer::allocate(device, 0);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->get(), nullptr);
}

TEST(DeviceTest, ExceptionsBecomeStatus) {
  CpuDevice device;
  auto stream = device.createStream();
  ASSERT_TRUE(stream.ok());
  ThrowingKernel memory(true), other(false);
  expectError(device.launch(**stream, memory, {}, {}, nullptr),
              StatusCode::ResourceExhausted, "out of memory");
  expectError(device.launch(**stream, other, {}, {}, nullptr),
              StatusCode::Internal, "library said no");
}

TEST(DeviceTest, EventsStartReached) {
  CpuDevice device;
  auto stream = device.createStream();
  auto event = device.createEvent();
  ASSERT_TRUE(stream.ok() && event.ok());
  EXPECT_TRUE(device.reached(**event));
  EXPECT_TRUE(device.record(**stream, **event).ok());
  EXPECT_TRUE(device.wait(**stream, **event).ok());
  EXPECT_TRUE(device.synchronize(**stream).ok());
}

NumericClass classify(DType dtype, uint64_t bits) {
  CpuDevice device;
  auto stream = device.createStream();
  uint64_t storage[2] = {0, 0};
  const size_t size = byteSize(dtype);
  std::memcpy(reinterpret_cast<uint8_t *>(storage) + size, &bits, size);
  auto found = device.classify(**stream, {{dtype, {2}}, storage});
  EXPECT_TRUE(found.ok());
  return *found;
}

TEST(DeviceTest, ClassifiesEachFloatType) {
  struct {
    DType dtype;
    uint64_t nan, infinity, minusInfinity, largest;
  } const cases[] = {
      {DType::F16, 0x7e00, 0x7c00, 0xfc00, 0x7bff},
      {DType::BF16, 0x7fc0, 0x7f80, 0xff80, 0x7f7f},
      {DType::F32, 0x7fc00000, 0x7f800000, 0xff800000, 0x7f7fffff},
      {DType::F64, 0x7ff8000000000000, 0x7ff0000000000000, 0xfff0000000000000,
       0x7fefffffffffffff}};
  for (const auto &c : cases) {
    EXPECT_TRUE(classify(c.dtype, c.nan).nan) << dtypeName(c.dtype);
    EXPECT_FALSE(classify(c.dtype, c.nan).infinity) << dtypeName(c.dtype);
    EXPECT_TRUE(classify(c.dtype, c.infinity).infinity) << dtypeName(c.dtype);
    EXPECT_TRUE(classify(c.dtype, c.minusInfinity).infinity);
    EXPECT_FALSE(classify(c.dtype, c.infinity).nan) << dtypeName(c.dtype);
    EXPECT_TRUE(classify(c.dtype, c.largest).finite()) << dtypeName(c.dtype);
  }
  EXPECT_TRUE(classify(DType::I32, 0x7fc00000).finite());
}

} // namespace
} // namespace pipec::test
