// Small tensors and parts of checkpoints for the tests of this folder.
#ifndef PIPEC_TEST_UNIT_CHECKPOINT_CHECKPOINTHELPER_H
#define PIPEC_TEST_UNIT_CHECKPOINT_CHECKPOINTHELPER_H

#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/checkpoint_writer.h"
#include "test/unit/base/TestFile.h"

namespace pipec::test {

/// f32 values that count up from `first`.
inline Tensor floats(std::vector<int64_t> shape, float first) {
  Tensor tensor = *Tensor::allocate({DType::F32, std::move(shape)});
  for (int64_t i = 0; i < tensor.numElements(); ++i)
    tensor.as<float>()[i] = first + static_cast<float>(i);
  return tensor;
}

inline NamedView named(std::vector<std::string> names, const Tensor &tensor) {
  return {std::move(names), tensor.view()};
}

/// The first value, to tell tensors apart.
inline float firstOf(const Tensor &tensor) { return tensor.as<float>()[0]; }

class CheckpointFileTest : public FileTest {
protected:
  std::string dir() const { return path("run"); }

  /// Two parts: {w, w's tied name t} and {b, the buffer mean}, each with state.
  void writeCheckpoint(int64_t step, float first, int64_t keep = 0) {
    auto writer = CheckpointWriter::begin(dir(), step);
    ASSERT_TRUE(writer.ok()) << writer.status().message();
    const Tensor w = floats({2, 3}, first), b = floats({3}, first + 10);
    const Tensor mean = floats({}, first + 20);
    const Tensor m = floats({2, 3}, first + 30), n = floats({3}, first + 40);
    CheckpointPart part;
    part.parameters = {named({"w", "t"}, w)};
    part.optimizer = {{"optimizer.exp_avg.w", m.view()}};
    ASSERT_TRUE((*writer)->writePart(0, part).ok());
    part.parameters = {named({"b"}, b)};
    part.buffers = {named({"mean"}, mean)};
    part.optimizer = {{"optimizer.exp_avg.b", n.view()}};
    ASSERT_TRUE((*writer)->writePart(1, part).ok());
    const Status status = (*writer)->commit(info(step), keep);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  static CheckpointInfo info(int64_t step) {
    CheckpointInfo info;
    info.step = step;
    info.seed = ~uint64_t(0);
    info.dataPosition = step;
    info.optimizer = {{"kind", "adam"}};
    info.notes = {{"data", "'t.bin', in order"}};
    return info;
  }
  Checkpoint open(const std::string &path) {
    auto checkpoint = Checkpoint::open(path);
    EXPECT_TRUE(checkpoint.ok()) << checkpoint.status().message();
    return std::move(*checkpoint);
  }
  std::string refusal(const std::string &path) {
    auto checkpoint = Checkpoint::open(path);
    return checkpoint.ok() ? "accepted" : checkpoint.status().message();
  }
  /// Names of what lies in the checkpoint directory.
  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(dir()))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
};

} // namespace pipec::test

#endif
