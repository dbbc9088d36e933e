// H5: the SDK's own proxies on an app's thread: no allocation and no lock, from the very first call
// on. The allocator and the lock functions of this program end it where a thread that has forbidden
// them calls one.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/clock.h"
#include "sdk/src/hook_set.h"
#include "sdk/src/options.h"
#include "sdk/src/runtime.h"
#include "tests/tracer/hook/fixture.h"

namespace {

thread_local constinit bool t_forbidden = false;
int (*g_lock)(pthread_mutex_t*) = nullptr;

void CheckAllowed(const char* what) {
  if (!t_forbidden) return;
  t_forbidden = false;
  const ssize_t written = write(STDERR_FILENO, what, strlen(what));
  abort();
  (void)written;
}

}  // namespace

extern "C" {

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void __libc_free(void*);

void* malloc(size_t size) {
  CheckAllowed("malloc inside a proxy\n");
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  CheckAllowed("calloc inside a proxy\n");
  return __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) {
  CheckAllowed("realloc inside a proxy\n");
  return __libc_realloc(old, size);
}
void free(void* old) {
  CheckAllowed("free inside a proxy\n");
  __libc_free(old);
}
int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  CheckAllowed("a lock inside a proxy\n");
  if (g_lock == nullptr) {
    g_lock = reinterpret_cast<decltype(g_lock)>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  }
  return g_lock(mutex);
}

}  // extern "C"

namespace jankbox {
namespace {

// A loop's library with the fixture's calls.
class LoopLibrary {
 public:
  LoopLibrary() {
    std::string path = (std::filesystem::temp_directory_path() / "jankbox-loop-XXXXXX").string();
    folder_ = mkdtemp(path.data());
    std::filesystem::copy_file(FixturePaths()[1], folder_ + "/libuv.so.1");
    fixture_ = std::make_unique<Fixture>(folder_ + "/libuv.so.1");
  }
  ~LoopLibrary() { std::filesystem::remove_all(folder_); }
  const Fixture* operator->() const { return fixture_.get(); }
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
  std::unique_ptr<Fixture> fixture_;
};

// All that the library imports and the SDK hooks.
void CallWithAllForbidden(const LoopLibrary& library) {
  constexpr char kMarker[] = "C|1|queue|5";
  t_forbidden = true;
  int wrong = 0;
  for (int i = 0; i < 1000; ++i) {
    errno = i;
    wrong += library->Poll(nullptr, 0, 0) != 0 || errno != i ? 1 : 0;
    wrong += library->Write(-1, kMarker, sizeof(kMarker) - 1) != -1 || errno != EBADF ? 1 : 0;
    wrong += library->Close(-1) != -1 || errno != EBADF ? 1 : 0;
  }
  t_forbidden = false;
  EXPECT_EQ(wrong, 0);
}

uint32_t HookedSlotsOf(const std::string& folder) {
  for (const ModuleHooks& module : HookSet::Get().Modules()) {
    if (module.path.starts_with(folder)) return module.slots.hooked;
  }
  return 0;
}

TEST(HookProxies, H5NeitherAllocateNorLock) {
  LoopLibrary library;
  jankbox_options given{};
  given.size = sizeof(given);
  given.dir = library.folder().c_str();
  Result<Options> options = ValidateOptions(&given);
  ASSERT_TRUE(options.ok());
  Result<std::unique_ptr<Runtime>> runtime = Runtime::Start(options.value());
  ASSERT_TRUE(runtime.ok());
  const uint64_t begin_ns = MonotonicNs();
  while (HookedSlotsOf(library.folder()) == 0 && MonotonicNs() - begin_ns < 5 * kNsPerSecond) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_GE(HookedSlotsOf(library.folder()), 2u) << "poll and write";
  CallWithAllForbidden(library);  // the main thread, whose waits are a loop's
  std::thread([&] { CallWithAllForbidden(library); }).join();
  runtime.value()->Stop(MonotonicNs() + kNsPerSecond);
  EXPECT_EQ(HookedSlotsOf(library.folder()), 0u);
  CallWithAllForbidden(library);
}

TEST(HookProxiesDeathTest, H5WhatIsForbiddenEndsTheProgram) {
  EXPECT_DEATH(
      {
        t_forbidden = true;
        void* volatile taken = malloc(8);
        free(taken);
      },
      "malloc inside a proxy");
}

}  // namespace
}  // namespace jankbox
