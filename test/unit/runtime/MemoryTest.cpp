// The memory limit, and packages that ask for more than there is.
#include "passes/schedule/Generate.h"
#include "runtime/device/cpu/cpu_device.h"
#include "runtime/executor/pipeline.h"
#include "runtime/training/trainer_access.h"
#include "runtime/transport/local/local_transport.h"
#include "test/unit/runtime/OpenTraining.h"
#include "test/unit/runtime/TestSession.h"

#include <filesystem>
#include <set>

namespace pipec::test {
namespace {

TEST(MemoryTest, LimitIsCheckedBeforeAllocating) {
  TempFolder folder;
  Package package = openBuilt(PackageBuilder(mlp(2, {2})), folder / "m.pipe");
  SessionOptions options = referenceOptions();
  options.memoryLimit = 100;
  Status status = Session::create(package, options).status();
  expectError(status, StatusCode::ResourceExhausted, "the limit is 100");
  // The message tells how much it takes; exactly that is enough, one less is
  // not.
  const size_t at = status.message().find("needs ") + 6;
  const uint64_t need = std::stoull(status.message().substr(at));
  options.memoryLimit = need - 1;
  EXPECT_FALSE(Session::create(package, options).ok());
  options.memoryLimit = need;
  EXPECT_TRUE(Session::create(package, options).ok());
}

TEST(MemoryTest, QueuesCount) {
  TempFolder folder;
  Package package = openBuilt(PackageBuilder(mlp(4, {2})), folder / "m.pipe");
  auto need = [&](int capacity) {
    SessionOptions options = referenceOptions(capacity);
    options.memoryLimit = 1;
    Status status = Session::create(package, options).status();
    return std::stoull(
        status.message().substr(status.message().find("needs ") + 6));
  };
  // A slot of one microbatch is 32 bytes here, and takes a cache line.
  EXPECT_EQ(need(3) - need(2), package.transfers().size() * 64);
}

TEST(MemoryTest, ArenaOfAnAbsurdSize) {
  TempFolder folder;
  PackageBuilder builder(mlp(1, {2}));
  builder.program(0).set_arena_bytes(uint64_t(1) << 61);
  Package package = openBuilt(builder, folder / "m.pipe");
  SessionOptions options = referenceOptions();
  options.memoryLimit = uint64_t(1) << 30;
  expectError(Session::create(package, options).status(),
              StatusCode::ResourceExhausted, "the limit is 1073741824");
}

TEST(MemoryTest, StageRunnerHasTheLimitToo) {
  TempFolder folder;
  Package package = openBuilt(PackageBuilder(mlp(2, {2})), folder / "m.pipe");
  SessionOptions options = referenceOptions();
  options.memoryLimit = 1;
  expectError(StageRunner::create(package, 0, options).status(),
              StatusCode::ResourceExhausted, "the limit is 1");
}

/// Has memory for `left` allocations.
class SmallDevice : public CpuDevice {
public:
  explicit SmallDevice(int left) : left(left) {}
  StatusOr<void *> allocate(size_t bytes) override {
    if (left-- > 0)
      return CpuDevice::allocate(bytes);
    return resourceExhausted("out of memory: could not allocate " +
                             std::to_string(bytes) + " bytes");
  }

private:
  int left;
};

/// Every message of `create(device)` while the device has less and less room.
template <typename Create>
std::set<std::string> failures(const Create &create) {
  std::set<std::string> messages;
  for (int left = 0; left < 100; ++left) {
    SmallDevice device(left);
    Status status = create(device);
    if (status.ok())
      return messages;
    EXPECT_EQ(status.getCode(), StatusCode::ResourceExhausted);
    messages.insert(status.message());
  }
  ADD_FAILURE() << "never enough";
  return messages;
}

/// Each names a stage, what for, how many bytes and what to do.
void expectNamed(const std::set<std::string> &messages,
                 const std::vector<std::string> &parts) {
  std::string all;
  for (const std::string &message : messages) {
    EXPECT_NE(message.find("stage "), std::string::npos) << message;
    EXPECT_NE(message.find(" bytes; "), std::string::npos) << message;
    EXPECT_NE(message.find("smaller microbatches"), std::string::npos)
        << message;
    all += message + "\n";
  }
  for (const std::string &part : parts)
    EXPECT_NE(all.find(part), std::string::npos) << part << " in\n" << all;
}

TEST(MemoryTest, WhatASessionLacksIsNamed) {
  TempFolder folder;
  Package package = openBuilt(PackageBuilder(mlp(2, {2})), folder / "m.pipe");
  expectNamed(failures([&](Device &device) {
                LocalTransport transport{device};
                return Pipeline::create(package, referenceOptions(), device,
                                        transport)
                    .status();
              }),
              {"transfers from stage 0 to stage 1: ",
               "stage 0, arena (values): ", "stage 1, arena (values): "});
}

TEST(MemoryTest, WhatATrainerLacksIsNamed) {
  TempFolder folder;
  Package package = openTraining(folder / "m.pipe", "gpipe", 2, 2, 2);
  TrainerOptions options;
  options.referenceKernels = true;
  expectNamed(
      failures([&](Device &device) {
        return TrainerAccess::create(package, options, &device).status();
      }),
      {"transfers from stage 0 to stage 1: ",
       "stage 0, what is kept for the gradients of weights (1 of 2): ",
       "--recompute full"});
}

TEST(MemoryTest, ATrainersLimitNamesTheRanks) {
  TempFolder folder;
  Package package = openTraining(folder / "m.pipe", "gpipe", 2, 2, 2);
  TrainerOptions options;
  options.memoryLimit = 100;
  Status status = Trainer::create(package, options).status();
  for (const char *part : {"the limit is 100: rank 0 ", ", rank 1 ",
                           "kept for the backward ", "--recompute full"})
    expectError(status, StatusCode::ResourceExhausted, part);
}

TEST(MemoryTest, WhatIsRecomputedAlreadyIsNotProposed) {
  TempFolder folder;
  TrainingPackage made(2);
  ASSERT_TRUE(made.setSchedule(*makeSchedule("gpipe", 2, 2, 2)).ok());
  TrainerOptions options;
  options.memoryLimit = 100;
  for (int s = 0; s < 2; ++s) {
    made.manifest.mutable_stages(s)->set_recomputes(true);
    ASSERT_TRUE(made.write(folder / "m.pipe").ok());
    const Status status =
        Trainer::create(*Package::open(folder / "m.pipe"), options).status();
    expectError(status, StatusCode::ResourceExhausted, "smaller microbatches");
    EXPECT_EQ(status.message().find("--recompute") == std::string::npos, s == 1)
        << status.message();
  }
}

TEST(MemoryTest, ATrainerIsCountedWithoutItsWeights) {
  TempFolder folder;
  Package package = openTraining(folder / "m.pipe", "gpipe", 2, 2, 2);
  TrainerOptions options;
  options.memoryLimit = 100;
  const Status refused = Trainer::create(package, options).status();
  for (int s = 0; s < 2; ++s)
    std::filesystem::remove(
        folder / ("m.pipe/stage" + std::to_string(s) + "/weights.safetensors"));
  auto need = TrainerAccess::count(package, options);
  ASSERT_TRUE(need.ok()) << need.status().message();
  ASSERT_EQ(need->stageBytes.size(), 2u);
  const std::string total =
      "needs " + std::to_string(need->stageBytes[0] + need->stageBytes[1]) +
      " bytes, the limit is 100: ";
  expectError(refused, StatusCode::ResourceExhausted, total);
  expectError(need->fits, StatusCode::ResourceExhausted, total);
  options.memoryLimit = need->stageBytes[0] + need->stageBytes[1];
  EXPECT_TRUE(TrainerAccess::count(package, options)->fits.ok());
}

} // namespace
} // namespace pipec::test
