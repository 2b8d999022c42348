// Mapped files: ranges that leave the file, and what is not a regular file.
#include "runtime/base/mapped_file.h"
#include "test/unit/base/TestFile.h"

#include <csignal>
#include <filesystem>
#include <limits>
#include <sys/stat.h>
#include <unistd.h>

using namespace pipec;

namespace {

using MappedFileTest = test::FileTest;

TEST_F(MappedFileTest, RangesAreChecked) {
  auto file = MappedFile::open(write("a", "0123456789"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->size(), 10u);
  EXPECT_EQ(**(*file)->range(3, 2), '3');
  EXPECT_TRUE((*file)->range(10, 0).ok());
  const uint64_t most = std::numeric_limits<uint64_t>::max();
  for (auto [offset, count] : {std::pair<uint64_t, uint64_t>{10, 1},
                               {11, 0},
                               {0, 11},
                               {5, most},
                               {most, most},
                               {most, 1}}) {
    const Status status = (*file)->range(offset, count).status();
    EXPECT_EQ(status.getCode(), StatusCode::DataLoss);
    EXPECT_NE(status.message().find(path("a")), std::string::npos);
  }
}

TEST_F(MappedFileTest, WhatIsReleasedIsReadAgain) {
  const std::string bytes(100000, 'b');
  auto file = MappedFile::open(write("c", bytes));
  ASSERT_TRUE(file.ok());
  const uint64_t most = UINT64_MAX;
  for (auto [offset, count] : {std::pair<uint64_t, uint64_t>{0, 100000},
                               {5000, 1},
                               {99999, most},
                               {most, most},
                               {0, 0}}) {
    (*file)->release(offset, count);
    EXPECT_EQ(std::string((*file)->data(), (*file)->data() + (*file)->size()),
              bytes);
  }
}

TEST_F(MappedFileTest, OneThatShrinksIsNamedOnceItIsRead) {
  const std::string path = write("s", std::string(20000, 'x'));
  auto shrink = [&] {
    reportMappedFilesThatShrink([](int status) { ::_exit(status + 40); });
    const auto file = *MappedFile::open(path);
    const auto gone = *MappedFile::open(path); // its place is used again
    std::filesystem::resize_file(path, 1);
    volatile uint8_t byte = file->data()[16384];
    (void)byte;
  };
  EXPECT_EXIT(shrink(), ::testing::ExitedWithCode(41),
              "pipec: error: '.*' became shorter while it was read");
  // What is none of ours goes where it went before.
  EXPECT_EXIT(
      {
        std::signal(SIGBUS, [](int) { ::_exit(7); });
        reportMappedFilesThatShrink([](int status) { ::_exit(status); });
        ::raise(SIGBUS);
      },
      ::testing::ExitedWithCode(7), "");
}

TEST_F(MappedFileTest, EmptyFile) {
  auto file = MappedFile::open(write("empty", ""));
  ASSERT_TRUE(file.ok());
  EXPECT_NE((*file)->data(), nullptr);
  EXPECT_TRUE((*file)->range(0, 0).ok());
  EXPECT_FALSE((*file)->range(0, 1).ok());
}

TEST_F(MappedFileTest, OnlyRegularFiles) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  for (const std::string &name : {path("missing"), folder.string(),
                                  path("pipe"), std::string("/dev/null")}) {
    const auto file = MappedFile::open(name);
    EXPECT_EQ(file.status().getCode(), StatusCode::Io) << name;
    EXPECT_NE(file.status().message().find(name), std::string::npos);
  }
}

} // namespace
