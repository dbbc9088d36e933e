#include "tools/attach/wait_watch.h"

#include <gmock/gmock.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "base/scoped_fd.h"

namespace jankbox::tools {
namespace {

class NoDispatches final : public DispatchSink {
 public:
  void OnBegin(uint64_t) override {}
  void OnEnd(uint64_t) override {}
  void OnForget(uint64_t) override {}
};

// A child that polls until it is told to run another program, which sleeps.
class WaitWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    child_ = fork();
    if (child_ == 0) {
      close(ends[1]);
      char byte = 0;
      (void)!read(ends[0], &byte, 1);
      execlp("sleep", "sleep", "1000", nullptr);
      _exit(1);
    }
    close(ends[0]);
    go_ = ScopedFd(ends[1]);
    auto code = std::make_shared<TargetCode>();
    code->modules = ModuleMap::Load();  // the child has the same
    code->wait_functions = FindWaitFunctions(code->modules);
    Result<std::unique_ptr<WaitWatch>> watch = WaitWatch::Open(child_, code, &dispatches_);
    if (!watch.ok()) GTEST_SKIP() << watch.status().message();
    watch_ = std::move(watch.value());
  }
  void TearDown() override {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }

  // Whether the watch says so in time.
  bool SeesAnotherProgram() {
    for (int i = 0; i < 3000; ++i) {
      watch_->Follow();
      if (watch_->executed()) return true;
      usleep(10'000);
    }
    return false;
  }

  pid_t child_ = -1;
  ScopedFd go_;
  NoDispatches dispatches_;
  std::unique_ptr<WaitWatch> watch_;
};

TEST_F(WaitWatchTest, AnotherProgramIsNoticed) {
  watch_->Follow();
  EXPECT_FALSE(watch_->executed());
  go_.Reset();
  EXPECT_TRUE(SeesAnotherProgram());
}

TEST_F(WaitWatchTest, CodeWithoutWaitFunctionsIsPolled) {
  auto code = std::make_shared<TargetCode>();
  code->exit_function = 0x1000;
  watch_->SetCode(code);
  EXPECT_TRUE(watch_->polled());
  watch_->Follow();
}

TEST_F(WaitWatchTest, DescriptorHangsUpWhenTheThreadHasEnded) {
  kill(child_, SIGKILL);
  pollfd event{watch_->fd(), 0, 0};
  ASSERT_EQ(poll(&event, 1, 30000), 1);
  EXPECT_NE(event.revents & POLLHUP, 0);
}

}  // namespace
}  // namespace jankbox::tools
