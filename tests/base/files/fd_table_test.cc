#include "base/files/fd_table.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>

#include "base/kept_fd.h"
#include "base/log.h"
#include "base/own_thread.h"

namespace jankbox {
namespace {

using ::testing::HasSubstr;

bool IsOpenHere(int fd) { return fcntl(fd, F_GETFD) >= 0; }

// Runs `run` on a thread that has left this one's table with `kept`.
void RunApart(int kept, const std::function<void()>& run) {
  OwnThread thread;
  ASSERT_TRUE(thread.Start([&] {
    ASSERT_TRUE(FdTable::Leave(kept));
    run();
  }));
  ASSERT_TRUE(thread.Join(UINT64_MAX));
}

class FdTableTest : public testing::Test {
 protected:
  void SetUp() override {
    bool left = false;
    OwnThread thread;
    ASSERT_TRUE(thread.Start([&] { left = FdTable::Leave(-1); }));
    thread.Join(UINT64_MAX);
    if (!left) GTEST_SKIP() << "a seccomp filter, or a kernel before 5.9";
  }
};

TEST_F(FdTableTest, NothingIsThereButTheKeptOne) {
  const ScopedFd before(open("/dev/zero", O_RDONLY | O_CLOEXEC));
  const ScopedFd kept(open("/dev/zero", O_RDONLY | O_CLOEXEC));
  const ScopedFd after(open("/dev/zero", O_RDONLY | O_CLOEXEC));
  RunApart(kept.get(), [&] {
    char byte = 1;
    EXPECT_EQ(read(kept.get(), &byte, 1), 1);
    EXPECT_FALSE(IsOpenHere(before.get()));
    EXPECT_FALSE(IsOpenHere(after.get()));
    EXPECT_NE(FdTable::OfThisThread(), FdTable::kOfTheApp);
    // What is opened there cannot be taken for standard output.
    const ScopedFd opened(open("/dev/zero", O_RDONLY | O_CLOEXEC));
    EXPECT_GT(opened.get(), STDERR_FILENO);
  });
  EXPECT_TRUE(IsOpenHere(before.get()) && IsOpenHere(kept.get()) && IsOpenHere(after.get()));
  EXPECT_EQ(FdTable::OfThisThread(), FdTable::kOfTheApp);
}

TEST_F(FdTableTest, NothingOfTheAppsIsHeldOpen) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  const ScopedFd reader(ends[0]);
  std::atomic<int> step{0};
  OwnThread thread;
  ASSERT_TRUE(thread.Start([&] {
    ASSERT_TRUE(FdTable::Leave(-1));
    { const AppFd borrowed(ends[1]); }
    step = 1;
    while (step != 2) usleep(1000);
  }));
  while (step != 1) usleep(1000);
  close(ends[1]);
  char byte;
  EXPECT_EQ(read(reader.get(), &byte, 1), 0) << "the end of the pipe";
  step = 2;
  thread.Join(UINT64_MAX);
}

TEST_F(FdTableTest, ThreadsShareTheTableOfTheOneThatMadeThem) {
  RunApart(-1, [] {
    const ScopedFd made(open("/dev/zero", O_RDONLY | O_CLOEXEC));
    OwnThread thread;
    ASSERT_TRUE(thread.Start([&, table = FdTable::OfThisThread()] {
      EXPECT_EQ(FdTable::OfThisThread(), table);
      EXPECT_TRUE(IsOpenHere(made.get()));
    }));
    thread.Join(UINT64_MAX);
  });
}

TEST_F(FdTableTest, DescriptorsAreClosedInTheirTableOnly) {
  ScopedFd theirs;
  KeptFd kept;
  ScopedFd ours(open("/dev/zero", O_RDONLY | O_CLOEXEC));
  const int number = ours.get();
  RunApart(-1, [&] {
    while (theirs.get() != number) {
      theirs = ScopedFd(open("/dev/zero", O_RDONLY | O_CLOEXEC));
      ASSERT_LE(theirs.get(), number);
      if (theirs.get() != number) theirs.Release();
    }
    kept = KeptFd(ScopedFd(dup(number)));
    ours.Reset();  // of the other table
    EXPECT_TRUE(IsOpenHere(number));
  });
  EXPECT_TRUE(IsOpenHere(number));
  theirs.Reset();
  EXPECT_TRUE(IsOpenHere(number)) << "the number is this table's here";
  EXPECT_FALSE(kept.IsStillOurs());
  close(number);
}

TEST_F(FdTableTest, DescriptorsOfTheAppAreBorrowed) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const ScopedFd one(ends[0]);
  const ScopedFd other(ends[1]);
  RunApart(-1, [&] {
    const AppFd borrowed(one.get());
    EXPECT_EQ(write(borrowed.get(), "x", 1), 1);
    EXPECT_EQ(AppFd(987).get(), -1);
  });
  char byte = 0;
  EXPECT_EQ(read(other.get(), &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
}

TEST_F(FdTableTest, LogLinesArriveAtTheAppsStandardError) {
  testing::internal::CaptureStderr();
  RunApart(-1, [] { LogWarning("from apart"); });
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("jankbox: warning: from apart\n"));
}

}  // namespace
}  // namespace jankbox
