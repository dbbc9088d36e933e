#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <random>
#include <sstream>
#include <thread>

#include "base/file.h"
#include "tests/tracer/hook/fixture.h"
#include "tests/tracer/hook/storm_time.h"
#include "tracer/hook/got_hooks.h"

namespace jankbox {
namespace {

constexpr int kLoaders = 8;
constexpr size_t kLibraries = 50;

std::atomic<uint64_t> g_hooked_calls;
OriginalFunction g_getppid;
OriginalFunction g_poll;

pid_t CountedGetppid() {
  g_hooked_calls.fetch_add(1, std::memory_order_relaxed);
  return g_getppid.Get<decltype(::getppid)>()();
}

int CountedPoll(pollfd* fds, nfds_t count, int timeout_ms) {
  g_hooked_calls.fetch_add(1, std::memory_order_relaxed);
  return g_poll.Get<decltype(::poll)>()(fds, count, timeout_ms);
}

bool AnyPageIsWritableAndExecutable() {
  std::istringstream maps(ReadProcFile("/proc/self/maps", 8 << 20));
  for (std::string line; std::getline(maps, line);) {
    if (line.find(" rwx") != std::string::npos) return true;
  }
  return false;
}

std::vector<std::string> MakeLibraries(const FixtureFolder& folder) {
  const std::vector<std::string> fixtures = FixturePaths();
  std::vector<std::string> libraries;
  for (size_t i = 0; i < kLibraries; ++i) {
    libraries.push_back(folder.Copy(fixtures[i % fixtures.size()], "storm" + std::to_string(i)));
  }
  return libraries;
}

// What the loaders did.
struct Storm {
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> loads{0}, wrong{0}, writable_and_executable{0};
};

// Loads two of the libraries at a time (other threads may have the same), calls through them, and
// lets them go.
void LoadAndCall(const std::vector<std::string>& libraries, size_t seed, Storm* storm) {
  const pid_t parent = getppid();
  std::minstd_rand random(static_cast<uint32_t>(seed));
  while (!storm->stop) {
    Fixture fixture(libraries[random() % kLibraries]);
    Fixture other(libraries[random() % kLibraries]);
    if (!fixture.loaded() || !other.loaded()) {
      ++storm->wrong;
      return;
    }
    for (int call = 0; call < 20; ++call) {
      if (fixture.Getppid() != parent || other.TableGetppid(call % 2) != parent) ++storm->wrong;
      if (other.Poll(nullptr, 0, 0) != 0) ++storm->wrong;
    }
    ++storm->loads;
  }
}

// H1, H10.
TEST(GotHooksStorm, H1LibrariesComeAndGoWhileHooksDo) {
  FixtureFolder folder;
  const std::vector<std::string> libraries = MakeLibraries(folder);
  Storm storm;
  std::vector<std::thread> threads;
  for (int loader = 0; loader < kLoaders; ++loader) {
    threads.emplace_back([&, loader] { LoadAndCall(libraries, loader + 1, &storm); });
  }
  threads.emplace_back([&] {
    while (!storm.stop) {
      storm.writable_and_executable += AnyPageIsWritableAndExecutable() ? 1 : 0;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });

  const HookRequest requests[] = {
      {"getppid", IsFixtureCopy, reinterpret_cast<void*>(&CountedGetppid), &g_getppid},
      {"poll", IsFixtureCopy, reinterpret_cast<void*>(&CountedPoll), &g_poll},
  };
  GotHooks hooks;
  uint64_t installs = 0, protected_pages = 0;
  const auto end = std::chrono::steady_clock::now() + StormTime();
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
  storm.stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(storm.wrong.load(), 0u);
  EXPECT_EQ(storm.writable_and_executable.load(), 0u);
  EXPECT_EQ(protected_pages, 0u);
  RecordProperty("loads", static_cast<int>(storm.loads.load()));
  RecordProperty("hooked_calls", static_cast<int>(g_hooked_calls.load()));
  EXPECT_GT(storm.loads.load(), 50u);
  RecordProperty("installs", static_cast<int>(installs));
  EXPECT_GT(installs, 1u);
  EXPECT_GT(g_hooked_calls.load(), 0u);
}

}  // namespace
}  // namespace jankbox
