// Locks against other holders: of a file and a folder, gone with the object,
// and what is said of the one who has it.
#include "runtime/base/file_lock.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace pipec {
namespace {

TEST(FileLock, IsHeldUntilItGoesAndNamesTheProcess) {
  const std::string folder =
      ::testing::TempDir() + "pipec-lock-" + std::to_string(::getpid());
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/file") << "x";
  for (const std::string &path : {folder, folder + "/file"}) {
    auto first = FileLock::take(path);
    ASSERT_TRUE(first.ok()) << first.status().message();
    auto second = FileLock::take(path);
    ASSERT_FALSE(second.ok());
    EXPECT_NE(second.status().message().find("is in use by process " +
                                             std::to_string(::getpid()) + " ("),
              std::string::npos)
        << second.status().message();
    first->reset();
    EXPECT_TRUE(FileLock::take(path).ok());
  }
  std::filesystem::remove_all(folder);
  EXPECT_FALSE(FileLock::take(folder).ok());
}

} // namespace
} // namespace pipec
