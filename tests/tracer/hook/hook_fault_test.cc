// Faults of the hook engine one by one: unloading while it patches, proxies that call themselves,
// threads that end, and what it must leave as it was.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstdlib>
#include <semaphore>
#include <sstream>
#include <thread>

#include "base/file.h"
#include "tests/tracer/hook/fixture.h"
#include "tests/tracer/hook/storm_time.h"
#include "tracer/hook/got_hooks.h"
#include "tracer/hook/reentry_guard.h"

namespace {

// The next mprotect() of this process waits between these two, as one that is slow does.
std::atomic<bool> g_slow_mprotect{false};
std::binary_semaphore g_mprotect_entered{0}, g_mprotect_may_go{0};

}  // namespace

extern "C" int mprotect(void* address, size_t size, int protection) noexcept {
  if (g_slow_mprotect.exchange(false)) {
    g_mprotect_entered.release();
    g_mprotect_may_go.acquire();
  }
  return static_cast<int>(syscall(SYS_mprotect, address, size, protection));
}

namespace jankbox {
namespace {

std::string FixtureNamed(std::string_view part) {
  for (const std::string& path : FixturePaths()) {
    if (BaseName(path).find(part) != std::string::npos) return path;
  }
  return "";
}

bool IsLoaded(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOLOAD | RTLD_LAZY);
  if (handle != nullptr) dlclose(handle);
  return handle != nullptr;
}

OriginalFunction g_write;
std::atomic<int> g_bodies;
int g_depth, g_max_depth;
const Fixture* g_fixture;

// A body that logs, allocates and loads: what the guard is for.
ssize_t ChattyWriteProxy(int fd, const void* bytes, size_t count) {
  auto* real = g_write.Get<decltype(::write)>();
  {
    ReentryGuard guard(HookFeature::kIo);
    if (guard.entered()) {
      ++g_bodies;
      g_max_depth = std::max(g_max_depth, ++g_depth);
      g_fixture->Write(-1, "from inside", 11);
      free(malloc(64));
      if (void* handle = dlopen(g_fixture->path().c_str(), RTLD_LAZY)) dlclose(handle);
      --g_depth;
    }
  }
  return real(fd, bytes, count);
}

ssize_t PlainWriteProxy(int fd, const void* bytes, size_t count) {
  {
    ReentryGuard guard(HookFeature::kIo);
    if (guard.entered()) ++g_bodies;
  }
  return g_write.Get<decltype(::write)>()(fd, bytes, count);
}

HookRequest WriteRequest(ssize_t (*proxy)(int, const void*, size_t)) {
  g_write.Set(nullptr);
  g_bodies = 0;
  return {"write", IsFixtureCopy, reinterpret_cast<void*>(proxy), &g_write};
}

TEST(HookFaults, H2LibraryThatIsUnloadedDuringPatchingStaysUntilItIsOver) {
  FixtureFolder folder;
  const std::string path = folder.Copy(FixtureNamed("_now."), "unloaded");
  auto leaving = std::make_unique<Fixture>(path);
  const HookRequest request = WriteRequest(PlainWriteProxy);
  GotHooks hooks;
  g_slow_mprotect = true;
  std::thread patching([&] { EXPECT_TRUE(hooks.Install({&request, 1}).ok()); });
  g_mprotect_entered.acquire();
  leaving.reset();  // the app's last reference
  EXPECT_TRUE(IsLoaded(path)) << "unmapped under the hands of the patching thread";
  g_mprotect_may_go.release();
  patching.join();
  EXPECT_FALSE(IsLoaded(path)) << "the hook holds it";
  EXPECT_EQ(hooks.Refresh().hooked, 0u);
  hooks.Uninstall();
}

TEST(HookFaults, H2LibraryThatIsUnloadedDuringUnhookingStaysUntilItIsOver) {
  FixtureFolder folder;
  const std::string path = folder.Copy(FixtureNamed("_now."), "unhooked");
  auto leaving = std::make_unique<Fixture>(path);
  const HookRequest request = WriteRequest(PlainWriteProxy);
  GotHooks hooks;
  ASSERT_GT(hooks.Install({&request, 1})->hooked, 0u);
  g_slow_mprotect = true;
  std::thread patching([&] { hooks.Uninstall(); });
  g_mprotect_entered.acquire();
  leaving.reset();
  EXPECT_TRUE(IsLoaded(path));
  g_mprotect_may_go.release();
  patching.join();
  EXPECT_FALSE(IsLoaded(path));
}

TEST(HookFaults, H4ProxyThatCallsItselfGoesStraightToTheOriginal) {
  FixtureFolder folder;
  Fixture fixture(folder.Copy(FixturePaths()[0], "reentry"));
  g_fixture = &fixture;
  const HookRequest request = WriteRequest(ChattyWriteProxy);
  GotHooks hooks;
  ASSERT_TRUE(hooks.Install({&request, 1}).ok());
  for (int i = 0; i < 100; ++i) {
    errno = i;
    EXPECT_EQ(fixture.Write(-1, "x", 1), -1);
    EXPECT_EQ(errno, EBADF);
  }
  EXPECT_EQ(g_bodies.load(), 100);
  EXPECT_EQ(g_max_depth, 1);
  hooks.Uninstall();
}

// Destructors that run when a thread ends, of both kinds, the first ones again after ours.
TEST(HookFaults, H8CallsOfEndingThreadsAreSeen) {
  FixtureFolder folder;
  Fixture fixture(folder.Copy(FixturePaths()[0], "ending"));
  g_fixture = &fixture;
  const HookRequest request = WriteRequest(PlainWriteProxy);
  GotHooks hooks;
  ASSERT_TRUE(hooks.Install({&request, 1}).ok());
  static pthread_key_t key;
  ASSERT_EQ(pthread_key_create(&key,
                               [](void* rounds) {
                                 g_fixture->Write(-1, "key", 3);
                                 const auto left = reinterpret_cast<uintptr_t>(rounds) - 1;
                                 pthread_setspecific(key, reinterpret_cast<void*>(left));
                               }),
            0);
  struct WritesAtTheEnd {
    ~WritesAtTheEnd() { g_fixture->Write(-1, "thread_local", 12); }
  };
  for (int i = 0; i < 50; ++i) {
    std::thread([] {
      static thread_local WritesAtTheEnd at_the_end;
      (void)&at_the_end;
      pthread_setspecific(key, reinterpret_cast<void*>(uintptr_t{3}));
    }).join();
  }
  EXPECT_EQ(g_bodies.load(), 50 * (1 + 3));
  pthread_key_delete(key);
  hooks.Uninstall();
}

// Permissions of all file-backed mappings, as the kernel lists them.
std::string FilePermissions() {
  std::istringstream maps(ReadProcFile("/proc/self/maps", 8 << 20));
  std::string permissions;
  for (std::string line; std::getline(maps, line);) {
    const size_t path = line.find('/');
    if (path != std::string::npos) permissions += line + "\n";
    EXPECT_EQ(line.find(" rwx"), std::string::npos) << line;
  }
  return permissions;
}

TEST(HookFaults, H9H10AllPermissionsAreTheSameBeforeBetweenAndAfter) {
  FixtureFolder folder;
  std::vector<std::unique_ptr<Fixture>> fixtures;
  for (size_t i = 0; i < FixturePaths().size(); ++i) {
    const std::string copy = folder.Copy(FixturePaths()[i], "maps" + std::to_string(i));
    fixtures.push_back(std::make_unique<Fixture>(copy));
  }
  HookRequest request = WriteRequest(PlainWriteProxy);
  request.caller_matches = nullptr;  // every module of the process
  GotHooks hooks;
  const std::string before = FilePermissions();
  Result<HookReport> report = hooks.Install({&request, 1});
  ASSERT_TRUE(report.ok());
  EXPECT_GE(report->hooked, fixtures.size());
  EXPECT_EQ(report->pages_left_writable, 0u);
  EXPECT_EQ(FilePermissions(), before);
  hooks.Refresh();
  hooks.Uninstall();
  EXPECT_EQ(FilePermissions(), before);
}

TEST(HookFaults, H10NoSystemCallAsksForWritableAndExecutable) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer maps what it likes";
  FixtureFolder folder;
  const std::string calls = folder.path() + "/calls";
  const std::string command = "strace -f -e trace=mmap,mprotect,pkey_mprotect -o " + calls + " " +
                              JANKBOX_FIXED_ADDRESS_PROGRAM + " " + FixtureNamed("_now.");
  if (system("strace -o /dev/null true 2>/dev/null") != 0)
    GTEST_SKIP() << "no strace, or no ptrace";
  ASSERT_EQ(system(command.c_str()), 0);
  std::istringstream lines(ReadFile(calls, 8 << 20).value());
  int stores = 0;
  for (std::string line; std::getline(lines, line);) {
    const bool writable = line.find("PROT_WRITE") != std::string::npos;
    EXPECT_FALSE(writable && line.find("PROT_EXEC") != std::string::npos) << line;
    stores += writable && line.find("mprotect(") != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(stores, 0) << "no RELRO page was ever opened";
}

std::string SignalTable() {
  std::string table;
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) != 0) continue;
    std::ostringstream line;
    line << signal << ' ' << reinterpret_cast<void*>(action.sa_handler) << ' ' << action.sa_flags;
    table += line.str() + "\n";
  }
  return table;
}

TEST(HookFaults, H18SignalTableIsTheSameBeforeBetweenAndAfter) {
  FixtureFolder folder;
  Fixture fixture(folder.Copy(FixturePaths()[0], "sigactions"));
  const HookRequest request = WriteRequest(PlainWriteProxy);
  GotHooks hooks;
  const std::string before = SignalTable();
  ASSERT_TRUE(hooks.Install({&request, 1}).ok());
  EXPECT_EQ(SignalTable(), before);
  hooks.Uninstall();
  EXPECT_EQ(SignalTable(), before);
}

}  // namespace
}  // namespace jankbox
