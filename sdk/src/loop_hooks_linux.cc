#include <dlfcn.h>
#include <poll.h>
#include <sys/epoll.h>

#include <cstdlib>
#include <cstring>

#include "monitors/looper/dispatch_monitor.h"
#include "monitors/looper/main_thread_wait.h"
#include "sdk/src/last_error.h"
#include "sdk/src/loop_hooks.h"
#include "tracer/hook/got_hooks.h"

namespace jankbox {
namespace {

constinit LoopDispatches g_loop;  // the main thread's
constexpr DispatchCalls kCalls = {DispatchMonitor::Begin, DispatchMonitor::BeginAt,
                                  DispatchMonitor::End};

std::atomic<void*> g_real_poll{nullptr};
std::atomic<void*> g_real_ppoll{nullptr};
std::atomic<void*> g_real_epoll_wait{nullptr};
std::atomic<void*> g_real_epoll_pwait{nullptr};

// The hooked call, with what it returned and its errno untouched. After StopLoopHooks a caller may
// still hold a proxy: recording is off then, and every call here is a no-op.
#define JANKBOX_PROXY(name, call, ...)                                                             \
  auto* real = reinterpret_cast<decltype(&::name)>(g_real_##name.load(std::memory_order_acquire)); \
  MainThreadWait wait(&g_loop, &kCalls, call);                                                     \
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

bool IsLoopLibrary(std::string_view path) {
  return ClassifyModule(path).kind == LoopModuleKind::kLoop;
}

template <typename Function>
HookRequest Request(const char* symbol, Function* proxy, std::atomic<void*>* original) {
  return {symbol, IsLoopLibrary, reinterpret_cast<void*>(proxy), original};
}

GotHooks& Hooks() {
  static auto* hooks = new GotHooks();  // proxies stay callable for good, so does what they need
  return *hooks;
}
bool g_installed = false;  // watcher thread, or the thread that stops

bool AgentIsPresent() {
  const char* preload = getenv("LD_PRELOAD");
  return preload != nullptr && strstr(preload, "libjankbox_agent.so") != nullptr;
}

}  // namespace

void RefreshLoopHooks(RingHeader* ring) {
  if (AgentIsPresent()) return;
  LoopModules::Refresh();
  if (g_installed) {
    Hooks().Refresh();
  } else {
    const HookRequest requests[] = {
        Request("poll", PollProxy, &g_real_poll),
        Request("ppoll", PpollProxy, &g_real_ppoll),
        Request("epoll_wait", EpollWaitProxy, &g_real_epoll_wait),
        Request("epoll_pwait", EpollPwaitProxy, &g_real_epoll_pwait),
    };
    const Result<HookReport> report = Hooks().Install(requests);
    g_installed = report.ok();
    if (!report.ok())
      SetLastError("loops of libraries are not watched: " + report.status().message());
  }
  // Until the program names its loop, the library that was seen waiting does.
  const bool unnamed = strncmp(ring->loop_name, "api", sizeof(ring->loop_name)) == 0;
  if (unnamed && g_loop.loop_name()[0] != '\0') {
    strncpy(ring->loop_name, g_loop.loop_name(), sizeof(ring->loop_name) - 1);
  }
}

void StopLoopHooks() {
  if (!g_installed) return;
  Hooks().Uninstall();
  g_installed = false;
}

}  // namespace jankbox
