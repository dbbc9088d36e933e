#include <dlfcn.h>
#include <poll.h>
#include <sys/epoll.h>

#include <cstdlib>
#include <cstring>

#include "monitors/looper/dispatch_monitor.h"
#include "monitors/looper/loop_hooks.h"
#include "monitors/looper/thread_wait.h"

namespace jankbox {
namespace {

constexpr DispatchCalls kCalls = {DispatchMonitor::Begin, DispatchMonitor::EndAll,
                                  DispatchMonitor::NameLoop};

using Hook = HookedBy<HookFeature::kLoop>;

// The hooked call, with what it returned and its errno untouched. After a stop a caller may still
// hold a proxy: recording is off then, and every call here is a no-op.
template <HookId kId, typename... Arguments>
int Wait(const WaitCall& call, Arguments... arguments) {
  auto* real = Hook::Original<kId, int(Arguments...)>();
  ThreadWait wait(&kCalls, call);
  const int result = real(arguments...);
  wait.Done(&kCalls);
  return result;
}

int PollProxy(pollfd* fds, nfds_t count, int timeout) {
  return Wait<HookId::kPoll>(JANKBOX_POLL_CALL(fds, count, timeout == 0), fds, count, timeout);
}

int PpollProxy(pollfd* fds, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  return Wait<HookId::kPpoll>(JANKBOX_POLL_CALL(fds, count, JANKBOX_IS_ZERO(timeout, tv_nsec)), fds,
                              count, timeout, mask);
}

int EpollWaitProxy(int epfd, epoll_event* events, int max_events, int timeout) {
  return Wait<HookId::kEpollWait>(JANKBOX_EPOLL_CALL(epfd, timeout == 0), epfd, events, max_events,
                                  timeout);
}

int EpollPwaitProxy(int epfd, epoll_event* events, int max_events, int timeout,
                    const sigset_t* mask) {
  return Wait<HookId::kEpollPwait>(JANKBOX_EPOLL_CALL(epfd, timeout == 0), epfd, events, max_events,
                                   timeout, mask);
}

// SDL 3's functions return a bool, which is the low byte of this.
int SdlPollEventProxy(void* event) {
  return Wait<HookId::kSdlPollEvent>(JANKBOX_PUMP_CALL("sdl"), event);
}
int SdlWaitEventProxy(void* event) {
  return Wait<HookId::kSdlWaitEvent>(JANKBOX_PUMP_CALL("sdl"), event);
}
int SdlWaitEventTimeoutProxy(void* event, int timeout_ms) {
  return Wait<HookId::kSdlWaitEventTimeout>(JANKBOX_PUMP_CALL("sdl"), event, timeout_ms);
}
int SdlPumpEventsProxy() { return Wait<HookId::kSdlPumpEvents>(JANKBOX_PUMP_CALL("sdl")); }

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
  const HookUse uses[] = {
      Hook::Use<HookId::kPoll>(PollProxy, IsLoopLibrary),
      Hook::Use<HookId::kPpoll>(PpollProxy, IsLoopLibrary),
      Hook::Use<HookId::kEpollWait>(EpollWaitProxy, IsLoopLibrary),
      Hook::Use<HookId::kEpollPwait>(EpollPwaitProxy, IsLoopLibrary),
      // SDL calls itself without an import.
      Hook::Use<HookId::kSdlPollEvent>(SdlPollEventProxy, IsOfTheApp),
      Hook::Use<HookId::kSdlPumpEvents>(SdlPumpEventsProxy, IsOfTheApp),
      Hook::Use<HookId::kSdlWaitEvent>(SdlWaitEventProxy, IsOfTheApp),
      Hook::Use<HookId::kSdlWaitEventTimeout>(SdlWaitEventTimeoutProxy, IsOfTheApp),
  };
  hooks->AddAll(uses, "loops of libraries are not watched");
}

bool WatchLoopOfThisThread() { return WatchedLoops::WatchThisThread(); }

const char* FollowLoopLibraries() {
  if (AgentIsPresent()) return "";
  LoopModules::Refresh();
  return WatchedLoops::Main().loop_name();
}

}  // namespace jankbox
