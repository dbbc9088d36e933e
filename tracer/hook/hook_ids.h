// Every function that Jankbox hooks: one id each and its symbol. The only place that names the
// symbol. A constant table: any thread, no code.
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
  kEnds,     // ends of the process
};
inline constexpr size_t kHookFeatures = 8;

// Names are those of the symbols, the _chk and _2 forms being what _FORTIFY_SOURCE calls instead.
enum class HookId : uint8_t {
  kPoll,
  kPpoll,
  kEpollWait,
  kEpollPwait,
  kWrite,
  kWriteChk,
  kWritev,
  kRead,
  kReadChk,
  kEventfdRead,
  kEventfdWrite,
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
  kSend,
  kSendmsg,
  kExit,
  kExitC,
  kAbort,
  kRaise,
  kExecve,
  kExecv,
  kExecvp,
  kExecvpe,
  kFexecve,
  kExecl,
  kExeclp,
  kExecle,
};
inline constexpr size_t kHookIds = 74;

struct HookedSymbol {
  HookId id;
  const char* symbol;
};

// Indexed by HookId. The symbols are those of glibc 2.36 and bionic; one that a system lacks is
// never imported there, and costs nothing.
inline constexpr std::array<HookedSymbol, kHookIds> kHookedSymbols = {{
    {HookId::kPoll, "poll"},
    {HookId::kPpoll, "ppoll"},
    {HookId::kEpollWait, "epoll_wait"},
    {HookId::kEpollPwait, "epoll_pwait"},
    {HookId::kWrite, "write"},
    {HookId::kWriteChk, "__write_chk"},
    {HookId::kWritev, "writev"},
    {HookId::kRead, "read"},
    {HookId::kReadChk, "__read_chk"},
    {HookId::kEventfdRead, "eventfd_read"},
    {HookId::kEventfdWrite, "eventfd_write"},
    {HookId::kReadv, "readv"},
    {HookId::kPread, "pread"},
    {HookId::kPreadChk, "__pread_chk"},
    {HookId::kPread64, "pread64"},
    {HookId::kPread64Chk, "__pread64_chk"},
    {HookId::kPwrite, "pwrite"},
    {HookId::kPwriteChk, "__pwrite_chk"},
    {HookId::kPwrite64, "pwrite64"},
    {HookId::kPwrite64Chk, "__pwrite64_chk"},
    {HookId::kFsync, "fsync"},
    {HookId::kFdatasync, "fdatasync"},
    {HookId::kOpen, "open"},
    {HookId::kOpen2, "__open_2"},
    {HookId::kOpen64, "open64"},
    {HookId::kOpen642, "__open64_2"},
    {HookId::kOpenat, "openat"},
    {HookId::kOpenat2, "__openat_2"},
    {HookId::kOpenat64, "openat64"},
    {HookId::kOpenat642, "__openat64_2"},
    {HookId::kClose, "close"},
    {HookId::kPthreadCreate, "pthread_create"},
    {HookId::kPthreadExit, "pthread_exit"},
    {HookId::kPthreadSetname, "pthread_setname_np"},
    {HookId::kPrctl, "prctl"},
    {HookId::kMutexLock, "pthread_mutex_lock"},
    {HookId::kMutexTimedlock, "pthread_mutex_timedlock"},
    {HookId::kMutexClocklock, "pthread_mutex_clocklock"},
    {HookId::kRwlockRdlock, "pthread_rwlock_rdlock"},
    {HookId::kRwlockTimedrdlock, "pthread_rwlock_timedrdlock"},
    {HookId::kRwlockWrlock, "pthread_rwlock_wrlock"},
    {HookId::kRwlockTimedwrlock, "pthread_rwlock_timedwrlock"},
    {HookId::kCondWait, "pthread_cond_wait"},
    {HookId::kCondTimedwait, "pthread_cond_timedwait"},
    {HookId::kCondClockwait, "pthread_cond_clockwait"},
    {HookId::kSemWait, "sem_wait"},
    {HookId::kSemTimedwait, "sem_timedwait"},
    {HookId::kSemClockwait, "sem_clockwait"},
    {HookId::kPthreadJoin, "pthread_join"},
    {HookId::kSyscall, "syscall"},
    {HookId::kSdlPollEvent, "SDL_PollEvent"},
    {HookId::kSdlPumpEvents, "SDL_PumpEvents"},
    {HookId::kSdlWaitEvent, "SDL_WaitEvent"},
    {HookId::kSdlWaitEventTimeout, "SDL_WaitEventTimeout"},
    {HookId::kEglSwapBuffers, "eglSwapBuffers"},
    {HookId::kGlxSwapBuffers, "glXSwapBuffers"},
    {HookId::kSdlRenderPresent, "SDL_RenderPresent"},
    {HookId::kSdlGlSwapWindow, "SDL_GL_SwapWindow"},
    {HookId::kSdlDelay, "SDL_Delay"},
    {HookId::kIoctl, "ioctl"},
    {HookId::kSend, "send"},
    {HookId::kSendmsg, "sendmsg"},
    {HookId::kExit, "_exit"},
    {HookId::kExitC, "_Exit"},
    {HookId::kAbort, "abort"},
    {HookId::kRaise, "raise"},
    {HookId::kExecve, "execve"},
    {HookId::kExecv, "execv"},
    {HookId::kExecvp, "execvp"},
    {HookId::kExecvpe, "execvpe"},
    {HookId::kFexecve, "fexecve"},
    {HookId::kExecl, "execl"},
    {HookId::kExeclp, "execlp"},
    {HookId::kExecle, "execle"},
}};

inline constexpr const char* SymbolOf(HookId id) {
  return kHookedSymbols[static_cast<size_t>(id)].symbol;
}

namespace hook_table {
consteval bool EntriesStandAtTheirIdsWithSymbolsOfTheirOwn() {
  for (size_t i = 0; i < kHookIds; ++i) {
    if (kHookedSymbols[i].id != static_cast<HookId>(i)) return false;
    for (size_t j = 0; j < i; ++j) {
      if (std::string_view(kHookedSymbols[i].symbol) == kHookedSymbols[j].symbol) return false;
    }
  }
  return true;
}
static_assert(EntriesStandAtTheirIdsWithSymbolsOfTheirOwn());
}  // namespace hook_table

}  // namespace jankbox

#endif  // JANKBOX_TRACER_HOOK_HOOK_IDS_H_
