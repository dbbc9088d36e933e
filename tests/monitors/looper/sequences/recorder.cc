// A preload library that records the waits of a program's main thread for the replay test: it
// interposes what the preload agent interposes, and the calls by which a planted stall marks itself
// (a question for the file /stall/begin or /stall/end). record_waits.py starts programs with it and
// says in the environment which program is meant, and where its records go.
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "monitors/looper/thread_wait.h"
#include "tests/monitors/looper/sequences/wait_log.h"

namespace {

using jankbox::LoopWaits;
using jankbox::WaitCall;
using jankbox::WaitLog;

constinit WaitLog g_log;
pid_t g_pid = 0;  // 0: not recorded
bool g_inside = false;
const void* g_inside_stack = nullptr;

bool IsRecorded() { return g_pid != 0 && syscall(SYS_gettid) == g_pid && getpid() == g_pid; }

// As ThreadWait: waits inside of waits are not the program's. A jump may have left the outer one.
class RecordedWait {
 public:
  explicit RecordedWait(const WaitCall& call) {
    if (!IsRecorded() || (g_inside && call.stack < g_inside_stack)) return;
    const int saved_errno = errno;
    if (g_inside) g_log.Return();
    g_inside = true;
    g_inside_stack = call.stack;
    g_log.Wait(call);
    recorded_ = true;
    errno = saved_errno;
  }
  void Done() {
    if (!recorded_ || getpid() != g_pid) return;
    const int saved_errno = errno;
    g_inside = false;
    g_log.Return();
    errno = saved_errno;
  }

 private:
  bool recorded_ = false;
};

void NoteMark(const char* path) {
  static constexpr std::string_view kBegin = "/stall/begin";
  static constexpr std::string_view kEnd = "/stall/end";
  if (path == nullptr || strncmp(path, "/stall/", 7) != 0 || !IsRecorded()) return;
  if (path == kBegin) g_log.StallBegins();
  if (path == kEnd) g_log.StallEnds();
}

template <typename Function>
Function* Next(const char* name, const void* caller) {
  if (auto* next = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name))) return next;
  Dl_info module;  // of a plugin, whose libraries are not among the program's
  if (dladdr(caller, &module) == 0) return nullptr;
  void* library = dlopen(module.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  return library == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, name));
}

__attribute__((constructor)) void Prepare() {
  const char* program = getenv("RECORD_WAITS_PROGRAM");
  const char* path = getenv("RECORD_WAITS_FILE");
  char self[4096] = "";
  if (program == nullptr || path == nullptr) return;
  if (readlink("/proc/self/exe", self, sizeof(self) - 1) <= 0) return;
  if (strcmp(strrchr(self, '/') + 1, program) != 0) return;
  if (g_log.Open(path)) g_pid = getpid();
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))
#define NEXT(name) Next<decltype(name)>(#name, __builtin_return_address(0))
#define FORWARD(name, call, ...)             \
  static auto* const function = NEXT(name);  \
  if (function == nullptr) return 0;         \
  RecordedWait wait(call);                   \
  const auto result = function(__VA_ARGS__); \
  wait.Done();                               \
  return result

extern "C" int __poll_chk(pollfd* fds, nfds_t count, int timeout, size_t fds_bytes);
extern "C" int __ppoll_chk(pollfd* fds, nfds_t count, const timespec* timeout, const sigset_t* mask,
                           size_t fds_bytes);
extern "C" ssize_t __read_chk(int fd, void* buffer, size_t bytes, size_t buffer_bytes);

EXPORT int poll(pollfd* fds, nfds_t count, int timeout) {
  FORWARD(poll, JANKBOX_POLL_CALL(fds, count, timeout == 0), fds, count, timeout);
}
EXPORT int __poll_chk(pollfd* fds, nfds_t count, int timeout, size_t fds_bytes) {
  FORWARD(__poll_chk, JANKBOX_POLL_CALL(fds, count, timeout == 0), fds, count, timeout, fds_bytes);
}
EXPORT int ppoll(pollfd* fds, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  FORWARD(ppoll, JANKBOX_POLL_CALL(fds, count, JANKBOX_IS_ZERO(timeout, tv_nsec)), fds, count,
          timeout, mask);
}
EXPORT int __ppoll_chk(pollfd* fds, nfds_t count, const timespec* timeout, const sigset_t* mask,
                       size_t fds_bytes) {
  FORWARD(__ppoll_chk, JANKBOX_POLL_CALL(fds, count, JANKBOX_IS_ZERO(timeout, tv_nsec)), fds, count,
          timeout, mask, fds_bytes);
}
EXPORT int epoll_wait(int epfd, epoll_event* events, int max_events, int timeout) {
  FORWARD(epoll_wait, JANKBOX_EPOLL_CALL(epfd, timeout == 0), epfd, events, max_events, timeout);
}
EXPORT int epoll_pwait(int epfd, epoll_event* events, int max_events, int timeout,
                       const sigset_t* mask) {
  FORWARD(epoll_pwait, JANKBOX_EPOLL_CALL(epfd, timeout == 0), epfd, events, max_events, timeout,
          mask);
}
EXPORT int epoll_pwait2(int epfd, epoll_event* events, int max_events, const timespec* timeout,
                        const sigset_t* mask) {
  FORWARD(epoll_pwait2, JANKBOX_EPOLL_CALL(epfd, JANKBOX_IS_ZERO(timeout, tv_nsec)), epfd, events,
          max_events, timeout, mask);
}
EXPORT int select(int nfds, fd_set* read, fd_set* write, fd_set* except, timeval* timeout) {
  FORWARD(select, JANKBOX_SELECT_CALL(nfds, read, write, except, JANKBOX_IS_ZERO(timeout, tv_usec)),
          nfds, read, write, except, timeout);
}
EXPORT int pselect(int nfds, fd_set* read, fd_set* write, fd_set* except, const timespec* timeout,
                   const sigset_t* mask) {
  FORWARD(pselect,
          JANKBOX_SELECT_CALL(nfds, read, write, except, JANKBOX_IS_ZERO(timeout, tv_nsec)), nfds,
          read, write, except, timeout, mask);
}

#define FORWARD_READ(name, ...)                                   \
  if (!LoopWaits::IsTerminal(fd)) return NEXT(name)(__VA_ARGS__); \
  FORWARD(name, JANKBOX_READ_CALL(fd), __VA_ARGS__)

EXPORT ssize_t read(int fd, void* buffer, size_t bytes) { FORWARD_READ(read, fd, buffer, bytes); }
EXPORT ssize_t __read_chk(int fd, void* buffer, size_t bytes, size_t buffer_bytes) {
  FORWARD_READ(__read_chk, fd, buffer, bytes, buffer_bytes);
}

EXPORT int SDL_PollEvent(void* event) { FORWARD(SDL_PollEvent, JANKBOX_PUMP_CALL("sdl"), event); }
EXPORT int SDL_WaitEvent(void* event) { FORWARD(SDL_WaitEvent, JANKBOX_PUMP_CALL("sdl"), event); }
EXPORT int SDL_WaitEventTimeout(void* event, int timeout_ms) {
  FORWARD(SDL_WaitEventTimeout, JANKBOX_PUMP_CALL("sdl"), event, timeout_ms);
}
EXPORT int SDL_PumpEvents() { FORWARD(SDL_PumpEvents, JANKBOX_PUMP_CALL("sdl")); }
EXPORT int Tcl_WaitForEvent(const void* time) {
  FORWARD(Tcl_WaitForEvent, JANKBOX_PUMP_CALL("tcl"), time);
}

// --- Marks

#define FORWARD_PATH(name, ...)             \
  static auto* const function = NEXT(name); \
  NoteMark(path);                           \
  return function(__VA_ARGS__)

EXPORT int access(const char* path, int mode) noexcept { FORWARD_PATH(access, path, mode); }
EXPORT int eaccess(const char* path, int mode) noexcept { FORWARD_PATH(eaccess, path, mode); }
EXPORT int faccessat(int folder, const char* path, int mode, int flags) noexcept {
  FORWARD_PATH(faccessat, folder, path, mode, flags);
}
EXPORT int stat(const char* path, struct stat* found) noexcept { FORWARD_PATH(stat, path, found); }
EXPORT int stat64(const char* path, struct stat64* found) noexcept {
  FORWARD_PATH(stat64, path, found);
}
EXPORT int fstatat(int folder, const char* path, struct stat* found, int flags) noexcept {
  FORWARD_PATH(fstatat, folder, path, found, flags);
}
EXPORT int fstatat64(int folder, const char* path, struct stat64* found, int flags) noexcept {
  FORWARD_PATH(fstatat64, folder, path, found, flags);
}
