#include "base/sealed_file.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <optional>

#include "base/file.h"

namespace jankbox {
namespace {

class SealedFileTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/jankbox-sealed-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    dir_ = name;
  }
  void TearDown() override {
    std::string command = "rm -rf " + dir_;
    ASSERT_EQ(system(command.c_str()), 0);
  }
  std::vector<std::string> Names() { return ListDirectory(dir_).value(); }
  std::string dir_;
};

TEST_F(SealedFileTest, SealMakesTheWholeFileVisible) {
  Result<SealedFile> file = SealedFile::Create(dir_, "report");
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->Write("hello").ok());
  EXPECT_EQ(ReadFile(JoinPath(dir_, "report"), 10).status().code(), StatusCode::kNotFound);
  ASSERT_TRUE(file->Seal().ok());
  EXPECT_EQ(Names(), std::vector<std::string>{"report"});
  EXPECT_EQ(ReadFile(JoinPath(dir_, "report"), 10).value(), "hello");
}

TEST_F(SealedFileTest, SealReplacesAnOlderFile) {
  std::ofstream(JoinPath(dir_, "report")) << "old";
  Result<SealedFile> file = SealedFile::Create(dir_, "report");
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->Write("new").ok());
  ASSERT_TRUE(file->Seal().ok());
  EXPECT_EQ(ReadFile(JoinPath(dir_, "report"), 10).value(), "new");
}

TEST_F(SealedFileTest, DestroyedUnsealedLeavesNothing) {
  {
    Result<SealedFile> file = SealedFile::Create(dir_, "report");
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->Write("half").ok());
    EXPECT_EQ(Names().size(), 1u);
  }
  EXPECT_TRUE(Names().empty());
}

TEST_F(SealedFileTest, SweepRemovesOnlyTheFilesOfDeadProcesses) {
  pid_t child = fork();
  if (child == 0) {
    auto* leaked = new std::optional<Result<SealedFile>>(SealedFile::Create(dir_, "report"));
    _exit(leaked->value().ok() ? 0 : 1);
  }
  int wait_status = 0;
  ASSERT_EQ(waitpid(child, &wait_status, 0), child);
  ASSERT_EQ(wait_status, 0);
  Result<SealedFile> mine = SealedFile::Create(dir_, "other");
  ASSERT_TRUE(mine.ok());
  EXPECT_EQ(Names().size(), 2u);
  EXPECT_EQ(SealedFile::SweepOrphans(dir_), 1);
  EXPECT_EQ(Names().size(), 1u);
  EXPECT_TRUE(mine->Seal().ok());
}

// Both sides of a container see the folder, and have processes of the same number.
TEST_F(SealedFileTest, SweepKnowsTheLivingOfAnotherPidNamespace) {
  int begun[2], end[2];
  ASSERT_EQ(pipe(begun), 0);
  ASSERT_EQ(pipe(end), 0);
  const pid_t outer = fork();
  if (outer == 0) {
    close(end[1]);
    if (unshare(CLONE_NEWPID) != 0) _exit(1);
    if (fork() == 0) {  // process 1 there
      auto* file = new std::optional<Result<SealedFile>>(SealedFile::Create(dir_, "report"));
      char byte = file->value().ok() ? 'y' : 'n';
      (void)!write(begun[1], &byte, 1);
      (void)!read(end[0], &byte, 1);
      _exit(0);
    }
    int status = 0;
    wait(&status);
    _exit(0);
  }
  close(begun[1]);
  char byte = 0;
  if (read(begun[0], &byte, 1) != 1) {
    waitpid(outer, nullptr, 0);
    GTEST_SKIP() << "a PID namespace needs root";
  }
  ASSERT_EQ(byte, 'y');
  EXPECT_EQ(SealedFile::SweepOrphans(dir_), 0);
  EXPECT_EQ(Names().size(), 1u);
  close(end[1]);
  ASSERT_EQ(waitpid(outer, nullptr, 0), outer);
  EXPECT_EQ(SealedFile::SweepOrphans(dir_), 1) << "though a process of that number lives here";
}

}  // namespace
}  // namespace jankbox
