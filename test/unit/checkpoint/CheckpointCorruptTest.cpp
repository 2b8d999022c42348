// Damaged, mixed and hostile checkpoints give one error that names the folder.
#include "test/unit/checkpoint/CheckpointHelper.h"

using namespace pipec;
namespace fs = std::filesystem;

namespace {

class CheckpointCorruptTest : public test::CheckpointFileTest {
protected:
  void SetUp() override {
    test::CheckpointFileTest::SetUp();
    writeCheckpoint(3, 0);
  }
  /// Replaces `from` in checkpoint.json, and expects to read why it is refused.
  void expectRefused(const std::string &from, const std::string &to,
                     const std::string &words) {
    const std::string name = "run/step-3/checkpoint.json";
    const std::string good = read(name);
    std::string bad = good;
    const size_t at = bad.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    write(name, bad.replace(at, from.size(), to));
    const std::string message = refusal(dir());
    EXPECT_NE(message.find(words), std::string::npos) << message;
    EXPECT_NE(message.find(dir() + "/step-3"), std::string::npos) << message;
    write(name, good);
    EXPECT_EQ(refusal(dir()), "accepted");
  }
};

TEST_F(CheckpointCorruptTest, Json) {
  expectRefused("\"pipec-checkpoint\"", "\"x\"", "no checkpoint of pipec");
  expectRefused("\"version\": 1", "\"version\": 2",
                "checkpoint version 2, this pipec reads up to 1");
  expectRefused("\"version\": 1", "\"version\": \"1\"", "field 'version'");
  expectRefused("\"step\": 3", "\"step\": -3", "field 'step'");
  expectRefused("\"step\": 3", "\"stop\": 3", "field 'step'");
  expectRefused("\"data_position\": 3", "\"data_position\": 1e3",
                "field 'data_position'");
  expectRefused("\"data_position\": 3",
                "\"data_position\": 9223372036854775808",
                "at most 9223372036854775807");
  expectRefused("\"optimizer\"", "\"optimiser\"", "field 'optimizer'");
  expectRefused("\"tied\": [", "\"tied\": [1,", "field 'tied'");
  expectRefused("\"buffers\"", "\"buffer\"", "field 'buffers'");
  expectRefused("part-1.safetensors", "../part-1.safetensors",
                "not the name of a file beside it");
  expectRefused("part-1.safetensors", "part-0.safetensors", "which lacks it");
  expectRefused("}", "", "not valid JSON");
}

TEST_F(CheckpointCorruptTest, AMissingOrTruncatedFileIsNotPassedOver) {
  writeCheckpoint(4, 0);
  const std::string file = "run/step-4/optimizer-1.safetensors";
  const std::string good = read(file);
  write(file, good.substr(0, good.size() - 1));
  EXPECT_NE(refusal(dir()).find("step-4' is damaged; remove it to resume from "
                                "an earlier one"),
            std::string::npos)
      << refusal(dir());
  fs::remove(path(file));
  EXPECT_NE(refusal(dir()).find("optimizer-1.safetensors"), std::string::npos);
  // Nor is a folder without its description: it had one when it got its name.
  fs::remove(path("run/step-4/checkpoint.json"));
  EXPECT_NE(refusal(dir()).find("step-4' cannot be used; remove it"),
            std::string::npos)
      << refusal(dir());
}

TEST_F(CheckpointCorruptTest, FilesOfAnotherStepAreSeen) {
  writeCheckpoint(4, 0);
  fs::copy_file(path("run/step-3/part-0.safetensors"),
                path("run/step-4/part-0.safetensors"),
                fs::copy_options::overwrite_existing);
  EXPECT_NE(refusal(dir()).find("is of step 3, the checkpoint of step 4"),
            std::string::npos)
      << refusal(dir());
}

TEST_F(CheckpointCorruptTest, AFlippedBitIsSeen) {
  for (const char *file : {"part-0", "optimizer-1"}) {
    const std::string name = std::string("run/step-3/") + file + ".safetensors";
    const std::string good = read(name);
    std::string bad = good;
    bad.back() = static_cast<char>(bad.back() ^ 1);
    write(name, bad);
    EXPECT_NE(refusal(dir()).find("is damaged: its bytes are not those that "
                                  "were written"),
              std::string::npos)
        << refusal(dir());
    write(name, good);
  }
  EXPECT_EQ(refusal(dir()), "accepted");
}

} // namespace
