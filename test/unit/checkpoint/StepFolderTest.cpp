// Folders that appear whole or not at all, and what is left after a crash.
#include "runtime/checkpoint/checkpoint_format.h"
#include "runtime/checkpoint/own_checkpoint.h"
#include "runtime/checkpoint/step_folder.h"
#include "test/unit/checkpoint/CheckpointHelper.h"

#include <sys/wait.h>
#include <unistd.h>

using namespace pipec;
namespace fs = std::filesystem;

namespace {

class StepFolderTest : public test::CheckpointFileTest {
protected:
  void publish(int64_t step, const std::string &text, bool overwrite = false) {
    auto folder = StepFolder::create(dir(), step, overwrite);
    ASSERT_TRUE(folder.ok()) << folder.status().message();
    ASSERT_TRUE((*folder)->write(kCheckpointFile, text).ok());
    const Status status = (*folder)->publish();
    ASSERT_TRUE(status.ok()) << status.message();
  }
};

/// What a checkpoint says of itself.
std::string json(int64_t step, uint64_t seed = 0) {
  CheckpointContents contents;
  contents.info.step = step;
  contents.info.seed = seed;
  return checkpointJson(contents);
}

TEST_F(StepFolderTest, AppearsOnlyWhenPublished) {
  {
    auto folder = StepFolder::create(dir(), 7, false);
    ASSERT_TRUE(folder.ok()) << folder.status().message();
    ASSERT_TRUE((*folder)->write(kCheckpointFile, "{}").ok());
    EXPECT_FALSE((*folder)->write(kCheckpointFile, "{}").ok());
    EXPECT_TRUE(listSteps(dir())->empty());
    EXPECT_EQ(entries().size(), 1u);
  }
  EXPECT_FALSE(fs::exists(dir())) << "an abandoned folder stays";
  publish(7, "{}");
  EXPECT_EQ(entries(), std::vector<std::string>{"step-7"});
  EXPECT_EQ(*listSteps(dir()), std::vector<int64_t>{7});
}

TEST_F(StepFolderTest, ExistingStepsStayUnlessAsked) {
  publish(1, json(1, 7));
  EXPECT_NE(StepFolder::create(dir(), 1, false)
                .status()
                .message()
                .find("exists already"),
            std::string::npos);
  publish(1, json(1, 8), true);
  EXPECT_EQ(read("run/step-1/checkpoint.json"), json(1, 8));
  EXPECT_EQ(entries(), std::vector<std::string>{"step-1"});
  fs::create_directory(path("run/step-2"));
  EXPECT_NE(StepFolder::create(dir(), 2, true)
                .status()
                .message()
                .find("is no checkpoint"),
            std::string::npos);
  // Of another, of another step, and with a file that is not its own.
  write("run/step-2/checkpoint.json", "{}");
  EXPECT_FALSE(StepFolder::create(dir(), 2, true).ok());
  write("run/step-2/checkpoint.json", json(3));
  EXPECT_FALSE(StepFolder::create(dir(), 2, true).ok());
  write("run/step-2/checkpoint.json", json(2));
  EXPECT_TRUE(StepFolder::create(dir(), 2, true).ok());
  write("run/step-2/part-0.safetensors.bak", "");
  EXPECT_NE(checkOwnCheckpoint(path("run/step-2"), 2)
                .message()
                .find("part-0.safetensors.bak is no part of the checkpoint"),
            std::string::npos);
  EXPECT_FALSE(removeStep(dir(), 2).ok());
  EXPECT_TRUE(fs::exists(path("run/step-2/part-0.safetensors.bak")));
}

TEST_F(StepFolderTest, AStepThatAppearsMeanwhileStays) {
  auto folder = StepFolder::create(dir(), 1, false);
  ASSERT_TRUE(folder.ok());
  publish(1, "faster");
  EXPECT_NE((*folder)->publish().message().find("exists already"),
            std::string::npos);
  folder->reset();
  EXPECT_EQ(read("run/step-1/checkpoint.json"), "faster");
  EXPECT_EQ(entries(), std::vector<std::string>{"step-1"});
}

TEST_F(StepFolderTest, OnlyFoldersOfOurSpellingCount) {
  for (const char *name : {"step-007", "step-", "step--1", "step-3x", "step-5",
                           "step-99999999999999999999", "other"})
    fs::create_directories(path("run") + "/" + name);
  for (const char *name : {"step-007", "step-", "step--1", "step-3x"})
    write(std::string("run/") + name + "/checkpoint.json", "{}");
  // Without its description it is damaged, which is for opening to say.
  EXPECT_EQ(*listSteps(dir()), (std::vector<int64_t>{5}));
  publish(10, "{}");
  publish(9, "{}");
  EXPECT_EQ(*listSteps(dir()), (std::vector<int64_t>{5, 9, 10}));
  EXPECT_TRUE(listSteps(path("none"))->empty());
  EXPECT_FALSE(listSteps(write("file", "")).ok());
}

TEST_F(StepFolderTest, WhatAKilledProcessLeftIsRemoved) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto folder = StepFolder::create(dir(), 3, false);
    ::_exit(folder.ok() && (*folder)->write("a", "b").ok() ? 0 : 1);
  }
  int result = -1;
  ASSERT_EQ(::waitpid(child, &result, 0), child);
  ASSERT_EQ(result, 0);
  ASSERT_EQ(entries().size(), 1u);
  EXPECT_TRUE(listSteps(dir())->empty());
  // The folder of a live writer stays.
  auto living = StepFolder::create(dir(), 4, false);
  ASSERT_TRUE(living.ok());
  publish(5, "{}");
  EXPECT_EQ(entries().size(), 2u);
  ASSERT_TRUE((*living)->publish().ok());
  EXPECT_EQ(entries(), (std::vector<std::string>{"step-4", "step-5"}));
}

TEST_F(StepFolderTest, OldStepsAreRemovedButNotTheCurrentOne) {
  for (const int64_t step : {1, 2, 3, 10})
    publish(step, json(step));
  ASSERT_TRUE(removeOldSteps(dir(), 2, 2).ok());
  EXPECT_EQ(*listSteps(dir()), (std::vector<int64_t>{2, 3, 10}));
  ASSERT_TRUE(removeOldSteps(dir(), 5, 10).ok());
  EXPECT_EQ(entries().size(), 3u);
  // What holds no checkpoint, or one of another, is somebody's.
  publish(4, "{}");
  fs::create_directory(path("run/step-1"));
  write("run/step-1/mine", "");
  ASSERT_TRUE(removeOldSteps(dir(), 0, -1).ok());
  EXPECT_EQ(entries(), (std::vector<std::string>{"step-1", "step-4"}));
  EXPECT_FALSE(holdsCheckpoint(dir(), 1));
}

TEST_F(StepFolderTest, FoldersThatCannotBeMadeAreNamed) {
  const std::string file = write("file", "");
  const Status status = StepFolder::create(file, 1, false).status();
  EXPECT_EQ(status.getCode(), StatusCode::Io);
  EXPECT_NE(status.message().find("file'"), std::string::npos);
  EXPECT_FALSE(StepFolder::create("", 1, false).ok());
  EXPECT_FALSE(StepFolder::create(dir(), -1, false).ok());
}

} // namespace
