// In-process channels: order, bounds, cancelling, reuse.
#include "runtime/device/cpu/cpu_device.h"
#include "runtime/transport/local/local_transport.h"
#include "test/unit/runtime/TestSession.h"

#include <thread>

namespace pipec::test {
namespace {

struct TransportTest : ::testing::Test {
  std::unique_ptr<Channel> make(size_t capacity) {
    ChannelSpec spec;
    spec.to = 1;
    spec.value = "h";
    spec.slotBytes = sizeof(int64_t);
    spec.capacity = capacity;
    auto channel = transport.createChannel(spec);
    EXPECT_TRUE(channel.ok());
    return std::move(*channel);
  }
  std::unique_ptr<Stream> stream() { return std::move(*device.createStream()); }

  CpuDevice device;
  LocalTransport transport{device};
};

TEST_F(TransportTest, KeepsOrderForEveryCapacity) {
  for (size_t capacity : {1, 2, 8}) {
    auto channel = make(capacity);
    std::thread producer([&] {
      auto s = stream();
      for (int64_t k = 0; k < 500; ++k) {
        const int64_t value = k * 3;
        ASSERT_TRUE(channel->send(*s, k, &value, sizeof(value)).ok());
      }
    });
    auto s = stream();
    for (int64_t k = 0; k < 500; ++k) {
      auto data = channel->receive(*s, k, sizeof(int64_t));
      ASSERT_TRUE(data.ok()) << data.status().message();
      EXPECT_EQ(*static_cast<int64_t *>(*data), k * 3);
      ASSERT_TRUE(channel->release(*s).ok());
    }
    producer.join();
  }
}

TEST_F(TransportTest, ReportsAnotherMicrobatchOrSize) {
  auto channel = make(2);
  auto s = stream();
  const int64_t value = 1;
  ASSERT_TRUE(channel->send(*s, 3, &value, sizeof(value)).ok());
  expectError(channel->receive(*s, 4, sizeof(value)).status(),
              StatusCode::Internal, "expected microbatch 4");
  expectError(channel->receive(*s, 3, 2).status(), StatusCode::Internal,
              "of 2 bytes");
  expectError(channel->send(*s, 4, &value, 9), StatusCode::Internal,
              "do not fit");
}

TEST_F(TransportTest, CancelWakesBothSides) {
  auto full = make(1), empty = make(1);
  auto s = stream();
  const int64_t value = 1;
  ASSERT_TRUE(full->send(*s, 0, &value, sizeof(value)).ok());
  std::thread producer([&] {
    auto mine = stream();
    expectError(full->send(*mine, 1, &value, sizeof(value)),
                StatusCode::Cancelled, "transfer of 'h'");
  });
  std::thread consumer([&] {
    auto mine = stream();
    expectError(empty->receive(*mine, 0, sizeof(value)).status(),
                StatusCode::Cancelled, "from stage 0 to stage 1");
  });
  full->cancel();
  empty->cancel();
  producer.join();
  consumer.join();
  full->reset();
  EXPECT_TRUE(full->send(*s, 0, &value, sizeof(value)).ok());
}

TEST_F(TransportTest, MemoryNeed) {
  ChannelSpec spec;
  spec.slotBytes = 65;
  spec.capacity = 3;
  auto need = transport.memoryNeed(spec);
  ASSERT_TRUE(need.ok());
  EXPECT_EQ(*need, 384u);
  spec.slotBytes = SIZE_MAX / 2;
  expectError(transport.memoryNeed(spec).status(),
              StatusCode::ResourceExhausted, "overflow");
  spec.capacity = 0;
  expectError(transport.memoryNeed(spec).status(), StatusCode::InvalidArgument,
              "at least one slot");
}

} // namespace
} // namespace pipec::test
