// H5: the SDK's own proxies on an app's thread: no allocation and no lock, from the very first call
// on. The allocator and the lock functions of this program end it if a thread that has forbidden
// them calls one.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/clock.h"
#include "base/scoped_fd.h"
#include "monitors/frame/frame_hooks.h"
#include "monitors/looper/dispatch_monitor.h"
#include "monitors/looper/loop_hooks.h"
#include "sdk/api/options.h"
#include "sdk/runtime/runtime.h"
#include "tests/tracer/hook/fixture.h"
#include "tracer/hook/hook_set.h"
#include "tracer/interpose/binder_proxies.h"
#include "tracer/interpose/marker_hooks.h"
#include "tracer/interpose/source_hooks.h"
#include "tracer/ring/recorder.h"

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

// A running SDK whose hooks are in `library`.
std::unique_ptr<Runtime> StartHooked(const LoopLibrary& library) {
  jankbox_options given{};
  given.size = sizeof(given);
  given.dir = library.folder().c_str();
  given.record = JANKBOX_RECORD_EXACT;
  Result<Options> options = ValidateOptions(&given);
  if (!options.ok()) return nullptr;
  Result<std::unique_ptr<Runtime>> runtime = Runtime::Start(options.value());
  if (!runtime.ok()) return nullptr;
  const uint64_t begin_ns = MonotonicNs();
  while (HookedSlotsOf(library.folder()) == 0 && MonotonicNs() - begin_ns < 5 * kNsPerSecond) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_GE(HookedSlotsOf(library.folder()), 2u) << "poll and write";
  return std::move(runtime.value());
}

TEST(HookProxies, H5NeitherAllocateNorLock) {
  LoopLibrary library;
  std::unique_ptr<Runtime> runtime = StartHooked(library);
  ASSERT_NE(runtime, nullptr);
  CallWithAllForbidden(library);  // the main thread, whose waits are a loop's
  std::thread([&] { CallWithAllForbidden(library); }).join();
  runtime->Stop(MonotonicNs() + kNsPerSecond, /*process_exits=*/false);
  EXPECT_EQ(HookedSlotsOf(library.folder()), 0u);
  CallWithAllForbidden(library);
}

uint64_t DispatchesOfThisThread() {
  return WatchedSlot::OfThisThread(Recorder::ActiveRing()).thread().dispatch_count.load();
}

// From the very first one on: by the explicit calls, and where a library's loop waits.
TEST(HookProxies, HundredThousandDispatchesNeitherAllocateNorLock) {
  constexpr uint64_t kDispatches = 100'000;
  LoopLibrary library;
  std::unique_ptr<Runtime> runtime = StartHooked(library);
  ASSERT_NE(runtime, nullptr);
  t_forbidden = true;
  for (uint64_t i = 0; i < kDispatches; ++i) {
    DispatchMonitor::Begin("Handler: what=17");
    DispatchMonitor::End();
  }
  t_forbidden = false;
  EXPECT_EQ(DispatchesOfThisThread(), kDispatches);
  t_forbidden = true;
  constexpr uint64_t kUntilKnown = 10;  // that another library's loop has taken over
  // May block, as the wait of a loop does, and never does.
  const ScopedFd always(eventfd(1, EFD_CLOEXEC));
  pollfd ready = {always.get(), POLLIN, 0};
  for (uint64_t i = 0; i < kDispatches + kUntilKnown; ++i) library->Poll(&ready, 1, 1000);
  t_forbidden = false;
  EXPECT_GE(DispatchesOfThisThread(), 2 * kDispatches);
  runtime->Stop(MonotonicNs() + kNsPerSecond, /*process_exits=*/false);
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

// An id that no feature uses is a line that nobody needs.
TEST(HookTable, EveryFunctionIsHookedBySomeFeature) {
  HookSet hooks;
  AddLoopHooks("", &hooks);
  AddFrameHooks({.gtk = false, .sdl = true, .swap = true}, &hooks);
  AddMarkerHooks(MarkerMode::kOff, /*record_writes=*/true, &hooks);
  AddSourceHooks({}, &hooks);
  hooks.AddAll(BinderHooks(), "binder");  // on Android
  for (const HookedSymbol& function : kHookedSymbols) {
    bool used = false;
    for (size_t feature = 0; feature < kHookFeatures; ++feature) {
      static OriginalFunction original;
      const HookUse second = {function.id, static_cast<HookFeature>(feature), nullptr, &original,
                              &original};
      used = hooks.Add(second).code() == StatusCode::kBusy || used;
    }
    EXPECT_TRUE(used) << function.symbol;
  }
  StopMarkerHooks();
}

}  // namespace
}  // namespace jankbox
