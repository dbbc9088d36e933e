// H7: children of every kind, made while the engine's locks, the loader's and the allocator's are
// busy, call through the proxies and end. A child that hangs is killed by its own alarm.
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/emulator.h"
#include "tests/tracer/hook/fixture.h"
#include "tests/tracer/hook/storm_time.h"
#include "tracer/hook/got_hooks.h"
#include "tracer/hook/reentry_guard.h"

extern char** environ;

namespace jankbox {
namespace {

constexpr unsigned kWatchdogSeconds = 5;

// ASan's shadow makes a fork cost 150 ms.
int Forks() { return ByMachine(kSanitized && getenv("JANKBOX_SOAK") == nullptr ? 50 : 1000, 50); }

OriginalFunction g_write, g_getppid;
std::atomic<uint64_t> g_bodies;

void Body(HookFeature feature) {
  ReentryGuard guard(feature);
  if (guard.entered()) g_bodies.fetch_add(1, std::memory_order_relaxed);
}

ssize_t WriteProxy(int fd, const void* bytes, size_t count) {
  Body(HookFeature::kIo);
  return g_write.Get<decltype(::write)>()(fd, bytes, count);
}

pid_t GetppidProxy() {
  Body(HookFeature::kThreads);
  return g_getppid.Get<decltype(::getppid)>()();
}

// Hooks come and go, libraries too: the locks of the engine and of the loader are held nearly all
// the time.
class BusyLocks {
 public:
  BusyLocks() : library_(folder_.Copy(FixturePaths()[1], "busy")) {
    threads_.emplace_back([this] {
      const HookRequest requests[] = {
          {"write", IsFixtureCopy, reinterpret_cast<void*>(&WriteProxy), &g_write},
          {"getppid", IsFixtureCopy, reinterpret_cast<void*>(&GetppidProxy), &g_getppid},
      };
      while (!stop_) {
        if (!hooks_.Install(requests).ok()) abort();
        for (int i = 0; i < 20; ++i) hooks_.Refresh();
        hooks_.Uninstall();
        ++rounds_;
      }
    });
    threads_.emplace_back([this] {
      while (!stop_) Fixture fixture(library_);
    });
    while (rounds_ < 2) std::this_thread::yield();
  }
  ~BusyLocks() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  FixtureFolder folder_;
  const std::string library_;
  GotHooks hooks_;
  std::atomic<bool> stop_{false};
  std::atomic<int> rounds_{0};
  std::vector<std::thread> threads_;
};

int CallThroughProxies(const Fixture& fixture, pid_t parent) {
  for (int i = 0; i < 50; ++i) {
    if (fixture.Write(-1, "x", 1) != -1 || errno != EBADF) return 2;
    if (fixture.Getppid() != parent || fixture.TableGetppid(i % 2) != parent) return 3;
  }
  return 0;
}

int Wait(pid_t child) {
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

[[gnu::noinline]] pid_t VforkAndExecute(const Fixture& fixture, char* program, char** arguments) {
  const pid_t child = vfork();
  if (child == 0) {
    fixture.Write(-1, "x", 1);  // in the parent's memory, which waits
    execv(program, arguments);
    _exit(127);
  }
  return child;
}

TEST(HookForks, H7ThousandForksWhileAllLocksAreBusy) {
  FixtureFolder folder;
  Fixture fixture(folder.Copy(FixturePaths()[0], "fork"));
  BusyLocks busy;
  int failed = 0;
  const pid_t parent = getpid();
  for (int i = 0; i < Forks(); ++i) {
    CallThroughProxies(fixture, getppid());
    const pid_t child = fork();
    if (child == 0) {
      alarm(kWatchdogSeconds);
      _exit(CallThroughProxies(fixture, parent));
    }
    failed += Wait(child) != 0 ? 1 : 0;
  }
  EXPECT_EQ(failed, 0);
  EXPECT_GT(g_bodies.load(), 0u);
}

TEST(HookForks, H7VforkAndSpawnWhileAllLocksAreBusy) {
  FixtureFolder folder;
  Fixture fixture(folder.Copy(FixturePaths()[0], "spawn"));
  BusyLocks busy;
  int failed = 0;
  for (int i = 0; i < 100; ++i) {
    char program[] = "/bin/true";
    char* arguments[] = {program, nullptr};
    pid_t child = -1;
    ASSERT_EQ(posix_spawn(&child, program, nullptr, nullptr, arguments, environ), 0);
    failed += Wait(child) != 0 ? 1 : 0;
    failed += Wait(VforkAndExecute(fixture, program, arguments)) != 0 ? 1 : 0;
    EXPECT_TRUE(ReentryGuard(HookFeature::kIo).entered());
  }
  EXPECT_EQ(failed, 0);
}

}  // namespace
}  // namespace jankbox
