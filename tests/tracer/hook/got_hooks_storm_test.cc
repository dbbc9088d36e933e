#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <sstream>
#include <thread>

#include "base/file.h"
#include "tests/tracer/hook/fixture.h"
#include "tracer/hook/got_hooks.h"

namespace jankbox {
namespace {

constexpr int kLoaders = 4;
constexpr int kCopiesEach = 5;
constexpr std::chrono::milliseconds kStorm(2500);

std::atomic<uint64_t> g_hooked_calls;
std::atomic<void*> g_getppid;
std::atomic<void*> g_poll;

pid_t CountedGetppid() {
  g_hooked_calls.fetch_add(1, std::memory_order_relaxed);
  return reinterpret_cast<decltype(&::getppid)>(g_getppid.load(std::memory_order_acquire))();
}

int CountedPoll(pollfd* fds, nfds_t count, int timeout_ms) {
  g_hooked_calls.fetch_add(1, std::memory_order_relaxed);
  return reinterpret_cast<decltype(&::poll)>(g_poll.load(std::memory_order_acquire))(fds, count,
                                                                                     timeout_ms);
}

bool AnyPageIsWritableAndExecutable() {
  std::istringstream maps(ReadProcFile("/proc/self/maps", 8 << 20));
  for (std::string line; std::getline(maps, line);) {
    if (line.find(" rwx") != std::string::npos) return true;
  }
  return false;
}

TEST(GotHooksStorm, LibrariesComeAndGoWhileHooksDo) {
  FixtureFolder folder;
  const std::vector<std::string> fixtures = FixturePaths();
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> loads{0}, wrong{0}, writable_and_executable{0};
  const pid_t parent = getppid();

  std::vector<std::thread> threads;
  for (int loader = 0; loader < kLoaders; ++loader) {
    std::vector<std::string> copies;
    for (int i = 0; i < kCopiesEach; ++i) {
      const int n = loader * kCopiesEach + i;
      copies.push_back(folder.Copy(fixtures[n % fixtures.size()], "storm" + std::to_string(n)));
    }
    threads.emplace_back([&, copies] {
      for (size_t i = 0; !stop; ++i) {
        Fixture fixture(copies[i % copies.size()]);
        Fixture other(copies[(i + 1) % copies.size()]);
        if (!fixture.loaded() || !other.loaded()) {
          ++wrong;
          break;
        }
        for (int call = 0; call < 20; ++call) {
          if (fixture.Getppid() != parent || other.TableGetppid(call % 2) != parent) ++wrong;
          if (other.Poll(nullptr, 0, 0) != 0) ++wrong;
        }
        ++loads;
      }
    });
  }
  threads.emplace_back([&] {
    while (!stop) writable_and_executable += AnyPageIsWritableAndExecutable() ? 1 : 0;
  });

  const HookRequest requests[] = {
      {"getppid", IsFixtureCopy, reinterpret_cast<void*>(&CountedGetppid), &g_getppid},
      {"poll", IsFixtureCopy, reinterpret_cast<void*>(&CountedPoll), &g_poll},
  };
  GotHooks hooks;
  uint64_t installs = 0, protected_pages = 0;
  const auto end = std::chrono::steady_clock::now() + kStorm;
  while (std::chrono::steady_clock::now() < end) {
    Result<HookReport> report = hooks.Install(requests);
    ASSERT_TRUE(report.ok());
    for (int i = 0; i < 5; ++i) {
      const HookReport now = hooks.Refresh();
      protected_pages += now.misses[static_cast<size_t>(HookMiss::kProtected)] +
                         now.pages_left_writable +
                         now.misses[static_cast<size_t>(HookMiss::kCorruptTables)];
    }
    hooks.Uninstall();
    ++installs;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0u);
  EXPECT_EQ(writable_and_executable.load(), 0u);
  EXPECT_EQ(protected_pages, 0u);
  RecordProperty("loads", static_cast<int>(loads.load()));
  RecordProperty("hooked_calls", static_cast<int>(g_hooked_calls.load()));
  EXPECT_GT(loads.load(), 50u);
  RecordProperty("installs", static_cast<int>(installs));
  EXPECT_GT(installs, 1u);
  EXPECT_GT(g_hooked_calls.load(), 0u);
}

}  // namespace
}  // namespace jankbox
