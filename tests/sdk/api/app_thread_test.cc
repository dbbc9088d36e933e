#include "sdk/api/app_thread.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "base/files/fd_table.h"

namespace jankbox {
namespace {

class AppThreadTest : public testing::Test {
 protected:
  // Runs `run` on a thread of Jankbox's. False: it has the app's descriptors.
  static bool RunApart(const std::function<void()>& run) {
    bool apart = false;
    OwnThread thread;
    EXPECT_TRUE(thread.Start([&] {
      apart = FdTable::Leave(-1);
      if (apart) run();
    }));
    thread.Join(UINT64_MAX);
    return apart;
  }
  void SetUp() override {
    if (!RunApart([] {})) GTEST_SKIP() << "a seccomp filter, or a kernel before 5.9";
  }
};

TEST_F(AppThreadTest, CallbacksHaveTheAppsDescriptors) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  AppThread::ForReports().Expect();
  int caller = 0;
  int callee = 0;
  RunApart([&] {
    caller = CurrentTid();
    EXPECT_LT(write(ends[1], "x", 1), 0);
    for (int i = 0; i < 3; ++i) {
      AppThread::ForReports().Run([&] {
        callee = CurrentTid();
        EXPECT_EQ(write(ends[1], "x", 1), 1);
        // A callback may lead to another one.
        AppThread::ForReports().Run([&] { EXPECT_EQ(CurrentTid(), callee); });
      });
    }
  });
  EXPECT_NE(callee, caller);
  char bytes[4];
  EXPECT_EQ(read(ends[0], bytes, sizeof(bytes)), 3);
  close(ends[0]);
  close(ends[1]);
}

TEST_F(AppThreadTest, ThreadsOfTheAppRunThemThemselves) {
  int callee = 0;
  AppThread::ForReports().Run([&] { callee = CurrentTid(); });
  EXPECT_EQ(callee, CurrentTid());
}

TEST_F(AppThreadTest, WithoutAThreadTheCallerRunsThem) {
  RunApart([] {
    static AppThread none;
    int callee = 0;
    none.Run([&] { callee = CurrentTid(); });
    EXPECT_EQ(callee, CurrentTid());
  });
}

TEST_F(AppThreadTest, ForkedChildHasItsOwn) {
  AppThread::ForReports().Expect();
  const pid_t child = fork();
  if (child == 0) {
    AppThread::StartExpected();
    int caller = 0;
    int callee = 0;
    RunApart([&] {
      caller = CurrentTid();
      AppThread::ForReports().Run([&] { callee = CurrentTid(); });
    });
    _exit(callee != 0 && callee != caller ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace jankbox
