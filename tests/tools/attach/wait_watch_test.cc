#include "tools/attach/wait_watch.h"

#include <gmock/gmock.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/recorded_process.h"
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

// How long each of its dispatches was.
class Durations final : public DispatchSink {
 public:
  void OnBegin(uint64_t ns) override { begin_ns_ = ns; }
  void OnEnd(uint64_t ns) override { longest_ns_ = std::max(longest_ns_, ns - begin_ns_); }
  void OnForget(uint64_t) override {}
  uint64_t longest_ns() const { return longest_ns_; }

 private:
  uint64_t begin_ns_ = 0;
  uint64_t longest_ns_ = 0;
};

// The capabilities of this thread: all that it may have, or none; `for_good`, none ever after.
void SetCapabilities(bool all, bool for_good) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
  if (syscall(SYS_capget, &header, data) != 0) abort();
  for (__user_cap_data_struct& word : data) {
    if (for_good) word.permitted = 0;
    word.effective = all ? word.permitted : 0;
    word.inheritable = 0;
  }
  if (syscall(SYS_capset, &header, data) != 0) abort();
}

// A child whose loop waits for a millisecond at most, hundreds of times a second; watched with all
// rights or with those of an ordinary user.
class BusyLoopTest : public testing::TestWithParam<bool> {
 protected:
  static constexpr char kStall = 's';  // compute for 300 ms, with blocks that are not the loop's
  static constexpr char kAsk = 'a';    // wait for 300 answers of a millisecond
  static constexpr char kSpin = 'p';   // no wait of the loop blocks for 300 ms

  void SetUp() override {
    int orders[2], answers[2];
    ASSERT_EQ(pipe(orders), 0);
    ASSERT_EQ(pipe(answers), 0);
    child_ = fork();
    if (child_ == 0) {
      SetCapabilities(/*all=*/false, /*for_good=*/true);
      const uint64_t ready = 0;
      if (write(answers[1], &ready, sizeof(ready)) != sizeof(ready)) _exit(1);
      RunLoop(orders[0], answers[1]);
    }
    orders_ = ScopedFd(orders[1]);
    answers_ = ScopedFd(answers[0]);
    close(orders[0]);
    close(answers[1]);
    uint64_t ready = 0;  // until then it has rights that this thread will not have
    ASSERT_EQ(read(answers_.get(), &ready, sizeof(ready)), ssize_t{sizeof(ready)});
    RecordedProcess::Set(child_);
    SetCapabilities(/*all=*/GetParam(), /*for_good=*/false);
    auto code = std::make_shared<TargetCode>();
    code->modules = ModuleMap::Load();
    code->wait_functions = FindWaitFunctions(code->modules);
    Result<std::unique_ptr<WaitWatch>> watch = WaitWatch::Open(child_, code, &durations_);
    if (!watch.ok()) GTEST_SKIP() << watch.status().message();
    watch_ = std::move(watch.value());
    if (watch_->polled()) GTEST_SKIP() << "the processor has no breakpoints";
  }
  void TearDown() override {
    watch_.reset();
    RecordedProcess::Set(0);
    SetCapabilities(/*all=*/true, /*for_good=*/false);
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }

  // In a frame of its own, as a library's reply function.
  [[gnu::noinline]] static void AwaitAnswer(int fd) {
    pollfd answer{fd, POLLIN, 0};
    poll(&answer, 1, 1);
    asm volatile("" : : "r"(&answer) : "memory");
  }

  [[noreturn]] static void RunLoop(int orders, int answers) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pollfd source{orders, POLLIN, 0};
    uint64_t begin_ns = 0;  // of the stall that has just ended
    while (true) {
      // The last moment before the wait: being preempted in between would belong to the stall.
      const uint64_t took_ns = begin_ns != 0 ? MonotonicNs() - begin_ns : 0;
      const int ready = poll(&source, 1, 1);
      begin_ns = 0;
      if (took_ns != 0 && write(answers, &took_ns, sizeof(took_ns)) != sizeof(took_ns)) _exit(1);
      if (ready <= 0) continue;
      char order = 0;
      if (read(orders, &order, 1) != 1) _exit(1);
      begin_ns = MonotonicNs();
      for (uint64_t n = 0; MonotonicNs() < begin_ns + 300 * kNsPerMs; ++n) {
        const uint64_t next_ns = MonotonicNs() + kNsPerMs / 10;
        while (MonotonicNs() < next_ns) {
        }
        if (order == kSpin) {
          poll(&source, 1, 0);
        } else if (order == kAsk) {
          AwaitAnswer(answers);
        } else if (n % 100 == 0) {
          usleep(50);
        }
      }
    }
  }

  void FollowFor(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      watch_->Follow();
      usleep(10'000);
    }
  }
  // How long it took.
  uint64_t Order(char order) {
    EXPECT_EQ(write(orders_.get(), &order, 1), 1);
    pollfd answer{answers_.get(), POLLIN, 0};
    do FollowFor(1);
    while (poll(&answer, 1, 0) == 0);
    uint64_t took_ns = 0;
    EXPECT_EQ(read(answers_.get(), &took_ns, sizeof(took_ns)), ssize_t{sizeof(took_ns)});
    FollowFor(10);
    return took_ns;
  }
  // Whether its breakpoints were taken away from it in time.
  bool IsRelieved() {
    for (int i = 0; i < 3000 && !watch_->polled(); ++i) FollowFor(1);
    return watch_->polled();
  }

  // How much of a stall may be over before it is recognised.
  uint64_t Unseen() const { return watch_->unseen()[0] != '\0' ? 200 * kNsPerMs : 0; }

  pid_t child_ = -1;
  ScopedFd orders_, answers_;
  Durations durations_;
  std::unique_ptr<WaitWatch> watch_;
};

TEST_P(BusyLoopTest, LosesItsBreakpointsAndItsStallIsSeen) {
  ASSERT_TRUE(IsRelieved());
  if (GetParam()) {
    EXPECT_STREQ(watch_->unseen(), "");
  }
  const uint64_t stall_ns = Order(kStall);
  if (watch_->unsure() != 0) GTEST_SKIP() << "this test got no CPU during the stall";
  EXPECT_GE(durations_.longest_ns(), stall_ns - Unseen());
  EXPECT_LT(durations_.longest_ns(), stall_ns + 50 * kNsPerMs);
  EXPECT_TRUE(IsRelieved()) << "for good";
}

TEST_P(BusyLoopTest, ShortWaitsForAnswersAreOneStall) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's poll() has one call site for all callers";
#endif
  ASSERT_TRUE(IsRelieved());
  // The breakpoints may be there or not, and a look may come between two waits.
  const int stalls = GetParam() ? 2 : 6;
  for (int i = 0; i < stalls; ++i) {
    const uint64_t stall_ns = Order(kAsk);
    if (watch_->unsure() != 0) GTEST_SKIP() << "this test got no CPU during the stall";
    if (GetParam() || i + 1 == stalls) {
      EXPECT_GE(durations_.longest_ns(), stall_ns - Unseen());
    }
    ASSERT_TRUE(IsRelieved());
  }
}

TEST_P(BusyLoopTest, RoundsWithoutABlockAreNoStall) {
  ASSERT_TRUE(IsRelieved());
  const uint64_t spin_ns = Order(kSpin);
  EXPECT_LT(durations_.longest_ns(), spin_ns / 2);
}

INSTANTIATE_TEST_SUITE_P(Rights, BusyLoopTest, testing::Bool());

}  // namespace
}  // namespace jankbox::tools
