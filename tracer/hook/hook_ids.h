// Every function that Jankbox may hook: one id each, its symbol, and the features that can want it,
// as data. The only place that has a symbol's name. A constant table: any thread, no code.
#ifndef JANKBOX_TRACER_HOOK_HOOK_IDS_H_
#define JANKBOX_TRACER_HOOK_HOOK_IDS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace jankbox {

// The features that may hook a function. If several features hook one function, their proxies are
// called in this order, the first one from the app's code.
enum class HookFeature : uint8_t {
  kLoop,     // waits of event loops: dispatches
  kMarkers,  // text written to trace_marker
  kIo,       // file input and output
  kLocks,    // waits for mutexes, conditions and semaphores
  kThreads,  // threads that are made and named
  kFrames,   // buffer swaps, and a game loop's own pauses between them
  kBinder,   // calls of other processes, on Android
};
inline constexpr size_t kHookFeatures = 7;

inline constexpr uint8_t HookFeatureBit(HookFeature feature) {
  return static_cast<uint8_t>(1u << static_cast<uint8_t>(feature));
}

// Names are those of the symbols, the _chk and _2 forms being what _FORTIFY_SOURCE calls instead.
enum class HookId : uint8_t {
  kPoll,
  kPollChk,
  kPpoll,
  kPpollChk,
  kEpollWait,
  kEpollPwait,
  kEpollPwait2,
  kSelect,
  kPselect,
  kWrite,
  kWriteChk,
  kWritev,
  kRead,
  kReadChk,
  kReadv,
  kPread,
  kPreadChk,
  kPread64,
  kPread64Chk,
  kPwrite,
  kPwriteChk,
  kPwrite64,
  kPwrite64Chk,
  kFsync,
  kFdatasync,
  kOpen,
  kOpen2,
  kOpen64,
  kOpen642,
  kOpenat,
  kOpenat2,
  kOpenat64,
  kOpenat642,
  kClose,
  kPthreadCreate,
  kPthreadExit,
  kPthreadSetname,
  kPrctl,
  kMutexLock,
  kMutexTimedlock,
  kMutexClocklock,
  kRwlockRdlock,
  kRwlockTimedrdlock,
  kRwlockWrlock,
  kRwlockTimedwrlock,
  kCondWait,
  kCondTimedwait,
  kCondClockwait,
  kSemWait,
  kSemTimedwait,
  kSemClockwait,
  kPthreadJoin,
  kSyscall,
  kSdlPollEvent,
  kSdlPumpEvents,
  kSdlWaitEvent,
  kSdlWaitEventTimeout,
  kEglSwapBuffers,
  kGlxSwapBuffers,
  kSdlRenderPresent,
  kSdlGlSwapWindow,
  kSdlDelay,
  kIoctl,
};
inline constexpr size_t kHookIds = 63;

struct HookedFunction {
  HookId id;
  const char* symbol;
  uint8_t features;  // HookFeatureBit() of each that may want it
};

namespace hook_table {
inline constexpr uint8_t kLoop = HookFeatureBit(HookFeature::kLoop);
inline constexpr uint8_t kMarkers = HookFeatureBit(HookFeature::kMarkers);
inline constexpr uint8_t kIo = HookFeatureBit(HookFeature::kIo);
inline constexpr uint8_t kLocks = HookFeatureBit(HookFeature::kLocks);
inline constexpr uint8_t kThreads = HookFeatureBit(HookFeature::kThreads);
inline constexpr uint8_t kFrames = HookFeatureBit(HookFeature::kFrames);
inline constexpr uint8_t kBinder = HookFeatureBit(HookFeature::kBinder);
}  // namespace hook_table

// Indexed by HookId. The symbols are those of glibc 2.36 and bionic; one that a system lacks is
// never imported there, and costs nothing.
inline constexpr std::array<HookedFunction, kHookIds> kHookedFunctions = {{
    {HookId::kPoll, "poll", hook_table::kLoop},
    {HookId::kPollChk, "__poll_chk", hook_table::kLoop},
    {HookId::kPpoll, "ppoll", hook_table::kLoop},
    {HookId::kPpollChk, "__ppoll_chk", hook_table::kLoop},
    {HookId::kEpollWait, "epoll_wait", hook_table::kLoop},
    {HookId::kEpollPwait, "epoll_pwait", hook_table::kLoop},
    {HookId::kEpollPwait2, "epoll_pwait2", hook_table::kLoop},
    {HookId::kSelect, "select", hook_table::kLoop},
    {HookId::kPselect, "pselect", hook_table::kLoop},
    {HookId::kWrite, "write", hook_table::kMarkers | hook_table::kIo},
    {HookId::kWriteChk, "__write_chk", hook_table::kMarkers | hook_table::kIo},
    {HookId::kWritev, "writev", hook_table::kMarkers | hook_table::kIo},
    {HookId::kRead, "read", hook_table::kIo},
    {HookId::kReadChk, "__read_chk", hook_table::kIo},
    {HookId::kReadv, "readv", hook_table::kIo},
    {HookId::kPread, "pread", hook_table::kIo},
    {HookId::kPreadChk, "__pread_chk", hook_table::kIo},
    {HookId::kPread64, "pread64", hook_table::kIo},
    {HookId::kPread64Chk, "__pread64_chk", hook_table::kIo},
    {HookId::kPwrite, "pwrite", hook_table::kIo},
    {HookId::kPwriteChk, "__pwrite_chk", hook_table::kIo},
    {HookId::kPwrite64, "pwrite64", hook_table::kIo},
    {HookId::kPwrite64Chk, "__pwrite64_chk", hook_table::kIo},
    {HookId::kFsync, "fsync", hook_table::kIo},
    {HookId::kFdatasync, "fdatasync", hook_table::kIo},
    {HookId::kOpen, "open", hook_table::kIo | hook_table::kMarkers},
    {HookId::kOpen2, "__open_2", hook_table::kIo | hook_table::kMarkers},
    {HookId::kOpen64, "open64", hook_table::kIo | hook_table::kMarkers},
    {HookId::kOpen642, "__open64_2", hook_table::kIo | hook_table::kMarkers},
    {HookId::kOpenat, "openat", hook_table::kIo | hook_table::kMarkers},
    {HookId::kOpenat2, "__openat_2", hook_table::kIo | hook_table::kMarkers},
    {HookId::kOpenat64, "openat64", hook_table::kIo | hook_table::kMarkers},
    {HookId::kOpenat642, "__openat64_2", hook_table::kIo | hook_table::kMarkers},
    {HookId::kClose, "close", hook_table::kIo | hook_table::kMarkers},
    {HookId::kPthreadCreate, "pthread_create", hook_table::kThreads},
    {HookId::kPthreadExit, "pthread_exit", hook_table::kThreads},
    {HookId::kPthreadSetname, "pthread_setname_np", hook_table::kThreads},
    {HookId::kPrctl, "prctl", hook_table::kThreads},
    {HookId::kMutexLock, "pthread_mutex_lock", hook_table::kLocks},
    {HookId::kMutexTimedlock, "pthread_mutex_timedlock", hook_table::kLocks},
    {HookId::kMutexClocklock, "pthread_mutex_clocklock", hook_table::kLocks},
    {HookId::kRwlockRdlock, "pthread_rwlock_rdlock", hook_table::kLocks},
    {HookId::kRwlockTimedrdlock, "pthread_rwlock_timedrdlock", hook_table::kLocks},
    {HookId::kRwlockWrlock, "pthread_rwlock_wrlock", hook_table::kLocks},
    {HookId::kRwlockTimedwrlock, "pthread_rwlock_timedwrlock", hook_table::kLocks},
    {HookId::kCondWait, "pthread_cond_wait", hook_table::kLocks},
    {HookId::kCondTimedwait, "pthread_cond_timedwait", hook_table::kLocks},
    {HookId::kCondClockwait, "pthread_cond_clockwait", hook_table::kLocks},
    {HookId::kSemWait, "sem_wait", hook_table::kLocks},
    {HookId::kSemTimedwait, "sem_timedwait", hook_table::kLocks},
    {HookId::kSemClockwait, "sem_clockwait", hook_table::kLocks},
    {HookId::kPthreadJoin, "pthread_join", hook_table::kLocks},
    {HookId::kSyscall, "syscall", hook_table::kLocks},
    {HookId::kSdlPollEvent, "SDL_PollEvent", hook_table::kLoop},
    {HookId::kSdlPumpEvents, "SDL_PumpEvents", hook_table::kLoop},
    {HookId::kSdlWaitEvent, "SDL_WaitEvent", hook_table::kLoop | hook_table::kFrames},
    {HookId::kSdlWaitEventTimeout, "SDL_WaitEventTimeout", hook_table::kLoop | hook_table::kFrames},
    {HookId::kEglSwapBuffers, "eglSwapBuffers", hook_table::kFrames},
    {HookId::kGlxSwapBuffers, "glXSwapBuffers", hook_table::kFrames},
    {HookId::kSdlRenderPresent, "SDL_RenderPresent", hook_table::kFrames},
    {HookId::kSdlGlSwapWindow, "SDL_GL_SwapWindow", hook_table::kFrames},
    {HookId::kSdlDelay, "SDL_Delay", hook_table::kFrames},
    {HookId::kIoctl, "ioctl", hook_table::kBinder},
}};

inline constexpr const HookedFunction& FunctionOf(HookId id) {
  return kHookedFunctions[static_cast<size_t>(id)];
}

inline constexpr bool MayHook(HookFeature feature, HookId id) {
  return (FunctionOf(id).features & HookFeatureBit(feature)) != 0;
}

namespace hook_table {
consteval bool EntriesStandAtTheirIdsWithSymbolsOfTheirOwn() {
  for (size_t i = 0; i < kHookIds; ++i) {
    if (kHookedFunctions[i].id != static_cast<HookId>(i)) return false;
    if (kHookedFunctions[i].features == 0) return false;
    for (size_t j = 0; j < i; ++j) {
      if (std::string_view(kHookedFunctions[i].symbol) == kHookedFunctions[j].symbol) return false;
    }
  }
  return true;
}
static_assert(EntriesStandAtTheirIdsWithSymbolsOfTheirOwn());
}  // namespace hook_table

}  // namespace jankbox

#endif  // JANKBOX_TRACER_HOOK_HOOK_IDS_H_
