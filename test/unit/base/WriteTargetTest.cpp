// Places to write to: which folder is missing, and what is no folder.
#include "runtime/base/write_target.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace pipec;
namespace fs = std::filesystem;

namespace {

class WriteTarget : public ::testing::Test {
protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "write-target-XXXXXX";
    ASSERT_TRUE(mkdtemp(pattern.data()));
    folder = pattern;
    std::ofstream(folder / "file") << "x";
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string at(const std::string &name) const { return folder / name; }

  fs::path folder;
};

TEST_F(WriteTarget, ParentNamesTheMissingFolder) {
  EXPECT_TRUE(checkParentFolder(at("new")).ok());
  EXPECT_TRUE(checkParentFolder(at("new/")).ok());
  EXPECT_TRUE(checkParentFolder("new").ok());
  EXPECT_TRUE(checkParentFolder("./new").ok());
  EXPECT_EQ(checkParentFolder(at("no//new/")).message(),
            "the folder '" + at("no") +
                "' does not exist; create it or give another path");
  EXPECT_EQ(checkParentFolder("no/new").message(),
            "the folder 'no' does not exist; create it or give another path");
  EXPECT_EQ(checkParentFolder(at("file/new")).message(),
            "'" + at("file") + "' is no folder; give another path");
}

TEST_F(WriteTarget, FoldersAreMadeBelowAnyThatExists) {
  EXPECT_TRUE(checkFolderTarget(at("a/b/c")).ok());
  EXPECT_TRUE(checkFolderTarget(folder).ok());
  EXPECT_TRUE(checkFolderTarget("a/b").ok());
  EXPECT_EQ(checkFolderTarget(at("file")).message(),
            "'" + at("file") + "' is no folder; give another path");
  EXPECT_FALSE(checkFolderTarget(at("file/a/b")).ok());
}

TEST_F(WriteTarget, FilesAreNoFolders) {
  EXPECT_TRUE(checkFileTarget(at("file")).ok());
  EXPECT_TRUE(checkFileTarget(at("new")).ok());
  EXPECT_TRUE(checkFileTarget("/dev/null").ok());
  EXPECT_EQ(checkFileTarget(folder).message(),
            "'" + folder.string() + "' is a folder; give the path of a file");
  EXPECT_NE(checkFileTarget(at("no/new")).message().find("does not exist"),
            std::string::npos);
}

TEST_F(WriteTarget, WhatCannotBeMadeIsFoundByTrying) {
  for (Status (*check)(const std::string &) :
       {checkParentFolder, checkFolderTarget, checkFileTarget,
        checkWholeFileTarget})
    EXPECT_NE(check("/proc/x").message().find(
                  "the folder '/proc' cannot be written to: "),
              std::string::npos)
        << check("/proc/x").message();
  EXPECT_TRUE(checkFolderTarget(at("new")).ok());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1)
      << "nothing is left of the attempts";
}

TEST_F(WriteTarget, LinksAndLongNames) {
  fs::create_symlink(at("nowhere"), at("link"));
  EXPECT_EQ(checkFolderTarget(at("link/a")).message(),
            "'" + at("link") +
                "' is a link to what is not there; remove it or give another "
                "path");
  const std::string name(300, 'x');
  EXPECT_NE(checkFolderTarget(at(name)).message().find("too long"),
            std::string::npos);
  EXPECT_NE(checkFileTarget(at(name)).message().find("too long"),
            std::string::npos);
}

TEST_F(WriteTarget, WholeFilesReplaceNoDevice) {
  EXPECT_TRUE(checkWholeFileTarget(at("file")).ok());
  EXPECT_TRUE(checkWholeFileTarget(at("new")).ok());
  EXPECT_EQ(checkWholeFileTarget("/dev/null").message(),
            "'/dev/null' is no regular file; give the path of one");
  EXPECT_FALSE(checkWholeFileTarget(folder).ok());
}

} // namespace
