// The memory limit, and packages that ask for more than there is.
#include "test/unit/runtime/TestSession.h"

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

} // namespace
} // namespace pipec::test
