#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

namespace jankbox {
namespace {

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/jankbox-file-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    dir_ = name;
  }
  void TearDown() override {
    std::string command = "rm -rf " + dir_;
    ASSERT_EQ(system(command.c_str()), 0);
  }
  std::string dir_;
};

TEST_F(FileTest, ReadFileReturnsAllAndRefusesMore) {
  std::ofstream(JoinPath(dir_, "f")) << "0123456789";
  EXPECT_EQ(ReadFile(JoinPath(dir_, "f"), 10).value(), "0123456789");
  EXPECT_EQ(ReadFile(JoinPath(dir_, "f"), 9).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ReadFile(JoinPath(dir_, "none"), 9).status().code(), StatusCode::kNotFound);
}

TEST_F(FileTest, OpenRegularFileRefusesLinksFifosAndDirectories) {
  ASSERT_EQ(mkfifo(JoinPath(dir_, "fifo").c_str(), 0600), 0);
  ASSERT_EQ(symlink("/etc/passwd", JoinPath(dir_, "link").c_str()), 0);
  EXPECT_FALSE(OpenRegularFile(JoinPath(dir_, "fifo")).ok());  // and does not block
  EXPECT_FALSE(OpenRegularFile(JoinPath(dir_, "link")).ok());
  EXPECT_FALSE(OpenRegularFile(dir_).ok());
}

TEST_F(FileTest, MakeDirectoriesMakesParentsAndKeepsOldOnes) {
  std::string deep = JoinPath(dir_, "a/b/c");
  EXPECT_TRUE(MakeDirectories(deep, 0700).ok());
  EXPECT_TRUE(MakeDirectories(deep, 0700).ok());
  std::ofstream(JoinPath(dir_, "file")) << "x";
  EXPECT_FALSE(MakeDirectories(JoinPath(dir_, "file"), 0700).ok());
  EXPECT_FALSE(MakeDirectories(JoinPath(dir_, "file/below"), 0700).ok());
}

TEST(Path, BaseNameAndDirName) {
  EXPECT_EQ(BaseName("/a/b"), "b");
  EXPECT_EQ(BaseName("b"), "b");
  EXPECT_EQ(DirName("/a/b"), "/a");
  EXPECT_EQ(DirName("/a"), "/");
  EXPECT_EQ(DirName("a"), ".");
}

}  // namespace
}  // namespace jankbox
