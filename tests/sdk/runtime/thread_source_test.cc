#include "sdk/runtime/thread_source.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

namespace jankbox {
namespace {

// In a process of its own, whose main thread ends before it.
void ExitOnceTheMainThreadIsGone() {
  const std::unique_ptr<ThreadSource> source = NewLiveThreadSource(getpid(), getpid());
  if (source->IsGone()) _exit(1);
  std::thread([&source] {
    for (int i = 0; i < 2000 && !source->IsGone(); ++i) usleep(10'000);
    _exit(source->IsGone() ? 0 : 2);
  }).detach();
  syscall(SYS_exit, 0);  // as pthread_exit() ends, without the unwinding
}

TEST(ThreadSourceDeathTest, MainThreadThatEndedIsGoneWhileOthersLive) {
  EXPECT_EXIT(ExitOnceTheMainThreadIsGone(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace jankbox
