#include <dlfcn.h>
#include <poll.h>
#include <sys/epoll.h>

#include <cstdlib>
#include <cstring>

#include "base/last_error.h"
#include "monitors/looper/dispatch_monitor.h"
#include "monitors/looper/loop_hooks.h"
#include "monitors/looper/thread_wait.h"

namespace jankbox {
namespace {

constexpr DispatchCalls kCalls = {DispatchMonitor::Begin, DispatchMonitor::BeginAt,
                                  DispatchMonitor::EndAll, DispatchMonitor::NameLoop};

std::atomic<void*> g_real_poll{nullptr};
std::atomic<void*> g_real_ppoll{nullptr};
std::atomic<void*> g_real_epoll_wait{nullptr};
std::atomic<void*> g_real_epoll_pwait{nullptr};
std::atomic<void*> g_real_sdl_poll_event{nullptr};
std::atomic<void*> g_real_sdl_pump_events{nullptr};
std::atomic<void*> g_real_sdl_wait_event{nullptr};
std::atomic<void*> g_real_sdl_wait_event_timeout{nullptr};

// The hooked call, with what it returned and its errno untouched. After a stop a caller may still
// hold a proxy: recording is off then, and every call here is a no-op.
#define JANKBOX_PROXY(name, call, ...)                                                             \
  auto* real = reinterpret_cast<decltype(&::name)>(g_real_##name.load(std::memory_order_acquire)); \
  ThreadWait wait(&kCalls, call);                                                                  \
  const int result = real(__VA_ARGS__);                                                            \
  wait.Done(&kCalls);                                                                              \
  return result

int PollProxy(pollfd* fds, nfds_t count, int timeout) {
  JANKBOX_PROXY(poll, JANKBOX_POLL_CALL(fds, count), fds, count, timeout);
}

int PpollProxy(pollfd* fds, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  JANKBOX_PROXY(ppoll, JANKBOX_POLL_CALL(fds, count), fds, count, timeout, mask);
}

int EpollWaitProxy(int epfd, epoll_event* events, int max_events, int timeout) {
  JANKBOX_PROXY(epoll_wait, JANKBOX_WAIT_CALL(WaitFamily::kEpoll, epfd, nullptr, 0, 0), epfd,
                events, max_events, timeout);
}

int EpollPwaitProxy(int epfd, epoll_event* events, int max_events, int timeout,
                    const sigset_t* mask) {
  JANKBOX_PROXY(epoll_pwait, JANKBOX_WAIT_CALL(WaitFamily::kEpoll, epfd, nullptr, 0, 0), epfd,
                events, max_events, timeout, mask);
}

// What SDL's functions are called through: SDL 3 returns a bool, which is the low byte of this.
#define JANKBOX_SDL_PROXY(name, type, ...)                                                   \
  auto* real = reinterpret_cast<int(*) type>(g_real_##name.load(std::memory_order_acquire)); \
  ThreadWait wait(&kCalls, JANKBOX_PUMP_CALL());                                             \
  const int result = real(__VA_ARGS__);                                                      \
  wait.Done(&kCalls);                                                                        \
  return result

int SdlPollEventProxy(void* event) { JANKBOX_SDL_PROXY(sdl_poll_event, (void*), event); }
int SdlWaitEventProxy(void* event) { JANKBOX_SDL_PROXY(sdl_wait_event, (void*), event); }
int SdlWaitEventTimeoutProxy(void* event, int timeout_ms) {
  JANKBOX_SDL_PROXY(sdl_wait_event_timeout, (void*, int), event, timeout_ms);
}
int SdlPumpEventsProxy() { JANKBOX_SDL_PROXY(sdl_pump_events, ()); }

// Who may call SDL: it calls itself without an import.
bool IsOfTheApp(std::string_view path) {
  return path.substr(path.rfind('/') + 1).rfind("libjankbox", 0) != 0;
}

bool IsLoopLibrary(std::string_view path) {
  return ClassifyModule(path).kind == LoopModuleKind::kLoop;
}

bool AgentIsPresent() {
  const char* preload = getenv("LD_PRELOAD");
  return preload != nullptr && strstr(preload, "libjankbox_agent.so") != nullptr;
}

}  // namespace

void AddLoopHooks(const std::string& watched_threads, HookSet* hooks) {
  if (AgentIsPresent()) return;
  WatchedLoops::SetWanted(watched_threads.c_str());
  constexpr HookFeature kLoop = HookFeature::kLoop;
  const HookUse uses[] = {
      HookUseOf(HookId::kPoll, kLoop, IsLoopLibrary, PollProxy, &g_real_poll),
      HookUseOf(HookId::kPpoll, kLoop, IsLoopLibrary, PpollProxy, &g_real_ppoll),
      HookUseOf(HookId::kEpollWait, kLoop, IsLoopLibrary, EpollWaitProxy, &g_real_epoll_wait),
      HookUseOf(HookId::kEpollPwait, kLoop, IsLoopLibrary, EpollPwaitProxy, &g_real_epoll_pwait),
      HookUseOf(HookId::kSdlPollEvent, kLoop, IsOfTheApp, SdlPollEventProxy,
                &g_real_sdl_poll_event),
      HookUseOf(HookId::kSdlPumpEvents, kLoop, IsOfTheApp, SdlPumpEventsProxy,
                &g_real_sdl_pump_events),
      HookUseOf(HookId::kSdlWaitEvent, kLoop, IsOfTheApp, SdlWaitEventProxy,
                &g_real_sdl_wait_event),
      HookUseOf(HookId::kSdlWaitEventTimeout, kLoop, IsOfTheApp, SdlWaitEventTimeoutProxy,
                &g_real_sdl_wait_event_timeout),
  };
  for (const HookUse& use : uses) {
    const Status status = hooks->Add(use);
    if (!status.ok()) SetLastError("loops of libraries are not watched: " + status.message());
  }
}

void WatchLoopOfThisThread() { WatchedLoops::WatchThisThread(); }

const char* FollowLoopLibraries() {
  if (AgentIsPresent()) return "";
  LoopModules::Refresh();
  return WatchedLoops::Main().loop_name();
}

}  // namespace jankbox
