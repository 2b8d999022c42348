// Checkpoints written by several threads and read with another cut; what the
// writer refuses.
#include "runtime/optimizer/optimizer.h"
#include "test/unit/checkpoint/CheckpointHelper.h"

#include <cstring>
#include <thread>

using namespace pipec;
using test::firstOf;
using test::floats;
using test::named;

namespace {

using CheckpointTest = test::CheckpointFileTest;

TEST_F(CheckpointTest, RoundTrip) {
  writeCheckpoint(5, 100);
  const Checkpoint checkpoint = open(dir());
  EXPECT_EQ(checkpoint.path(), dir() + "/step-5");
  const CheckpointInfo &got = checkpoint.info(), expected = info(5);
  EXPECT_EQ(got.step, 5);
  EXPECT_EQ(got.seed, expected.seed);
  EXPECT_EQ(got.dataPosition, 5);
  EXPECT_EQ(got.optimizer, expected.optimizer);
  EXPECT_EQ(got.notes, expected.notes);
  EXPECT_EQ(checkpoint.weights().names(),
            (std::vector<std::string>{"b", "mean", "t", "w"}));
  EXPECT_EQ(checkpoint.buffers(), std::vector<std::string>{"mean"});
  EXPECT_EQ(checkpoint.tied(), (TiedNames{{"w", "t"}}));

  Tensor w = floats({2, 3}, 0), b = floats({3}, 0), mean = floats({}, 0);
  const std::vector<NamedView> all = {named({"w"}, w), named({"b"}, b),
                                      named({"mean"}, mean)};
  EXPECT_EQ(checkpoint.match(all).str(), ""); // "t" is w's
  ASSERT_TRUE(checkpoint.loadInto(all).ok());
  EXPECT_EQ(w.as<float>()[5], 105);
  EXPECT_EQ(firstOf(b), 110);
  EXPECT_EQ(firstOf(mean), 120);
}

TEST_F(CheckpointTest, TheLatestIsTakenUnlessOneIsNamed) {
  for (const int64_t step : {9, 10, 2})
    writeCheckpoint(step, static_cast<float>(step));
  EXPECT_EQ(open(dir()).info().step, 10);
  EXPECT_EQ(open(dir() + "/step-2").info().step, 2);
  EXPECT_EQ(*Checkpoint::latest(dir()), dir() + "/step-10");
  EXPECT_EQ(*Checkpoint::latest(path("none")), "");
  EXPECT_NE(refusal(path("none")).find("name another folder"),
            std::string::npos);
}

TEST_F(CheckpointTest, OldOnesAreRemovedWhenAsked) {
  for (const int64_t step : {1, 2, 3, 4})
    writeCheckpoint(step, 0, step == 4 ? 2 : 0);
  EXPECT_EQ(entries(), (std::vector<std::string>{"step-3", "step-4"}));
}

TEST_F(CheckpointTest, OptimizerStateIsFoundUnderTiedNames) {
  writeCheckpoint(1, 0);
  const Checkpoint checkpoint = open(dir());
  Tensor m = floats({2, 3}, 0);
  ASSERT_TRUE(
      checkpoint.loadOptimizer({{"optimizer.exp_avg.t", m.view()}}, {}).ok());
  EXPECT_EQ(firstOf(m), 30);
  m = floats({2, 3}, 0);
  ASSERT_TRUE(checkpoint
                  .loadOptimizer({{"optimizer.exp_avg.v", m.view()}},
                                 {{"v", "t"}, {"v", "w"}})
                  .ok());
  EXPECT_EQ(firstOf(m), 30);
  EXPECT_EQ(checkpoint.loadOptimizer({{"optimizer.exp_avg_sq.w", m.view()}}, {})
                .message(),
            "optimizer state, written by adam: '" + dir() +
                "/step-1' lacks 1 of the 1 tensors that are to be read: "
                "'optimizer.exp_avg_sq.w'");
  EXPECT_TRUE(
      checkpoint.loadOptimizer({{"optimizer.exp_avg_sq.w", m.view()}}, {}, true)
          .ok());
}

// Names that one run had apart may not be joined silently by the next.
TEST_F(CheckpointTest, JoiningWhatDiffersIsRefused) {
  writeCheckpoint(1, 0);
  auto writer = CheckpointWriter::begin(dir(), 2);
  const Tensor a = floats({2}, 1), b = floats({2}, 2);
  CheckpointPart part;
  part.parameters = {named({"a"}, a), named({"b"}, b)};
  ASSERT_TRUE((*writer)->writePart(0, part).ok());
  ASSERT_TRUE((*writer)->commit(info(2)).ok());
  const Tensor joined = floats({2}, 0);
  EXPECT_NE(open(dir())
                .loadInto({named({"a", "b"}, joined)})
                .message()
                .find("--untie"),
            std::string::npos);
}

// Four stages, a thread each, then the whole as one stage, and as two.
TEST_F(CheckpointTest, ResumesWithAnotherCutToTheBit) {
  constexpr int kParameters = 8;
  const OptimizerConfig config =
      OptimizerConfig::defaults(OptimizerKind::AdamW);
  auto nameOf = [](int i) { return "layer" + std::to_string(i) + ".weight"; };
  struct Run {
    std::vector<Tensor> parameters;
    std::vector<Optimizer> stages;
  };
  auto make = [&](int stages) {
    Run run;
    for (int i = 0; i < kParameters; ++i)
      run.parameters.push_back(floats({5, 7}, 0.1f * static_cast<float>(i)));
    for (int s = 0; s < stages; ++s) {
      run.stages.push_back(std::move(*Optimizer::create(config)));
      for (int i = s * kParameters / stages; i < (s + 1) * kParameters / stages;
           ++i)
        EXPECT_TRUE(
            run.stages[s].add(nameOf(i), run.parameters[i].type()).ok());
    }
    return run;
  };
  auto step = [&](Run &run, int k) {
    const Tensor gradient = floats({5, 7}, 0.3f - static_cast<float>(k));
    const int each = kParameters / static_cast<int>(run.stages.size());
    for (int i = 0; i < kParameters; ++i)
      run.stages[i / each].apply(i % each, run.parameters[i].as<float>(),
                                 gradient.as<float>(), 0.5, 0.01);
  };

  Run four = make(4);
  step(four, 0);
  step(four, 1);
  auto writer = CheckpointWriter::begin(dir(), 2);
  ASSERT_TRUE(writer.ok());
  std::vector<std::thread> threads;
  std::vector<Status> results(4);
  for (int s = 0; s < 4; ++s)
    threads.emplace_back([&, s] {
      CheckpointPart part;
      for (int i = 2 * s; i < 2 * s + 2; ++i)
        part.parameters.push_back(named({nameOf(i)}, four.parameters[i]));
      part.optimizer = four.stages[s].state();
      results[s] = (*writer)->writePart(s, part);
    });
  for (int s = 0; s < 4; ++s) {
    threads[s].join();
    ASSERT_TRUE(results[s].ok()) << results[s].message();
  }
  ASSERT_TRUE((*writer)->commit(info(2)).ok());
  step(four, 2);

  for (const int stages : {1, 2}) {
    Run other = make(stages);
    const Checkpoint checkpoint = open(dir());
    for (int i = 0; i < kParameters; ++i)
      ASSERT_TRUE(
          checkpoint.loadInto({named({nameOf(i)}, other.parameters[i])}).ok());
    for (Optimizer &stage : other.stages)
      ASSERT_TRUE(checkpoint.loadOptimizer(stage.state(), {}).ok());
    step(other, 2);
    for (int i = 0; i < kParameters; ++i)
      EXPECT_EQ(std::memcmp(other.parameters[i].data(),
                            four.parameters[i].data(),
                            other.parameters[i].byteSize()),
                0);
  }
}

TEST_F(CheckpointTest, PartsWithoutTensorsAndAllTypes) {
  auto writer = CheckpointWriter::begin(dir(), 1);
  ASSERT_TRUE(writer.ok());
  std::vector<Tensor> tensors;
  CheckpointPart part;
  for (int i = 1; i <= 13; ++i) {
    tensors.push_back(*Tensor::allocate({static_cast<DType>(i), {3}}));
    std::memset(tensors.back().data(), 1, tensors.back().byteSize());
    part.buffers.push_back(named({std::to_string(i)}, tensors.back()));
  }
  ASSERT_TRUE((*writer)->writePart(0, {}).ok());
  ASSERT_TRUE((*writer)->writePart(3, part).ok());
  ASSERT_TRUE((*writer)->commit(info(1)).ok());
  EXPECT_FALSE((*writer)->commit(info(1)).ok());
  const Checkpoint checkpoint = open(dir());
  EXPECT_TRUE(checkpoint.loadInto(part.buffers).ok());
  EXPECT_EQ(checkpoint.buffers().size(), 13u);
}

TEST_F(CheckpointTest, TheWriterRefusesWhatIsWrong) {
  const Tensor x = floats({1}, 0);
  CheckpointPart part;
  part.parameters = {named({"x"}, x)};
  auto begin = [&] { return std::move(*CheckpointWriter::begin(dir(), 1)); };
  auto writer = begin();
  EXPECT_NE(writer->commit(info(1)).message().find("no part was written"),
            std::string::npos);
  ASSERT_TRUE(writer->writePart(0, part).ok());
  EXPECT_NE(writer->commit(info(2)).message().find("says step 2"),
            std::string::npos);
  EXPECT_EQ(writer->writePart(1, part).message(),
            "checkpoint of step 1: 'x' is written to part-0.safetensors and "
            "again to part-1.safetensors: a shared weight is written by one "
            "part only");
  EXPECT_NE(writer->commit(info(1)).message().find("could not be written"),
            std::string::npos);
  writer = begin();
  ASSERT_TRUE(writer->writePart(0, part).ok());
  EXPECT_FALSE(writer->writePart(0, {}).ok());
  writer = begin();
  EXPECT_FALSE(writer->writePart(-1, part).ok());
  writer.reset();
  EXPECT_TRUE(entries().empty());
  writeCheckpoint(1, 0);
  EXPECT_FALSE(CheckpointWriter::begin(dir(), 1).ok());
}

TEST_F(CheckpointTest, OverwritingReplacesTheWhole) {
  writeCheckpoint(1, 0);
  auto writer = CheckpointWriter::begin(dir(), 1, true);
  ASSERT_TRUE(writer.ok());
  EXPECT_EQ(open(dir()).weights().names().size(), 4u);
  const Tensor x = floats({1}, 0);
  CheckpointPart part;
  part.parameters = {named({"x"}, x)};
  ASSERT_TRUE((*writer)->writePart(0, part).ok());
  ASSERT_TRUE((*writer)->commit(info(1)).ok());
  EXPECT_EQ(open(dir()).weights().names(), std::vector<std::string>{"x"});
  EXPECT_EQ(entries(), std::vector<std::string>{"step-1"});
}

} // namespace
