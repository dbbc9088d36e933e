// The preload agent: interposes the waits of an unmodified program. Before main(), while there is
// one thread that could fork, it loads libjankbox.so, apart from the program's own symbols; once
// the main thread (or one of the option watch_threads, or one that is found to be the UI thread)
// waits in a loop, a thread of its own starts the recorder. Exports those waits, read(), and what
// ends the process or puts it into a sandbox (agent.map); every one goes to the real function with
// the caller's arguments, result and errno untouched. Under `jankbox run` it records the program
// that was named, and programs that this one starts and the time before a loop waits only if it is
// told to. FORK: a child that executes no other program is not recorded.
#include <dlfcn.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "base/clock.h"
#include "base/own_thread.h"
#include "base/private_library.h"
#include "base/wipe_on_fork.h"
#include "jankbox/jankbox.h"
#include "monitors/looper/thread_wait.h"
#include "monitors/looper/user_terminal.h"
#include "sdk/linux/agent_settings.h"
#include "sdk/linux/java_ui.h"
#include "sdk/linux/preload_link.h"
#include "sdk/linux/ui_thread_search.h"
#include "sdk/linux/unreported.h"
#include "sdk/runtime/run_socket.h"
#include "tracer/event/wake_word.h"
#include "tracer/hook/original_function.h"

namespace {

using jankbox::AgentSettings;
using jankbox::DispatchCalls;
using jankbox::LoopDispatches;
using jankbox::LoopWaits;
using jankbox::OriginalFunction;
using jankbox::ThreadWait;
using jankbox::UiThreadSearch;
using jankbox::WatchedLoops;

enum class Phase : int {
  kNotRecorded = 0,
  kMayStart,  // a wait of a watched thread starts the recorder
  kStarts,    // a thread does it
  kStarted,   // or failed
};

// Nothing of it is true in a forked child.
struct ThisProcess {
  std::atomic<Phase> phase{Phase::kNotRecorded};
  std::atomic<const DispatchCalls*> calls{nullptr};  // set once the recorder runs
  pid_t pid = 0;                                     // not of a child of vfork()
};
constinit ThisProcess g_not_prepared;  // a library's constructor may wait before Prepare()
std::atomic<ThisProcess*> g_process{&g_not_prepared};  // replaced once, by Prepare()
std::atomic<bool> g_leaving{false};
jankbox::WakeWord g_leaving_wakes;       // the thread that follows the modules
std::atomic<bool> g_forked{false};       // this is a child that has executed no program yet
std::atomic<bool> g_has_java_ui{false};  // a Java VM reports the loops of its threads
DispatchCalls g_call_table;
jankbox_status (*g_watch_this_thread)(const char*);
jankbox_status (*g_start)(const jankbox_options*);
uint32_t (*g_slow_message_ms)();
void (*g_stop)();
void (*g_process_exits)();
void (*g_real_exit)(int);

ThisProcess* Process() { return g_process.load(std::memory_order_acquire); }

const DispatchCalls* Calls() { return Process()->calls.load(std::memory_order_acquire); }

template <typename Function>
Function Symbol(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

// libjankbox.so is beside this library.
void* LoadRecorder() {
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(&LoadRecorder), &self) == 0) return nullptr;
  char path[4096];
  const char* slash = strrchr(self.dli_fname, '/');
  const size_t folder = slash != nullptr ? static_cast<size_t>(slash - self.dli_fname) + 1 : 0;
  static constexpr char kName[] = JANKBOX_LIBRARY_FILE;
  if (folder + sizeof(kName) > sizeof(path)) return nullptr;
  memcpy(path, self.dli_fname, folder);
  memcpy(path + folder, kName, sizeof(kName));
  return jankbox::OpenPrivateLibrary(path);
}

// False if it is not the recorder that this agent was built with.
bool BindRecorder(void* library) {
  g_start = Symbol<decltype(&jankbox_start)>(library, "jankbox_start");
  g_watch_this_thread =
      Symbol<decltype(&jankbox_watch_this_thread)>(library, "jankbox_watch_this_thread");
  g_call_table = {Symbol<decltype(&jankbox_dispatch_begin)>(library, "jankbox_dispatch_begin"),
                  Symbol<decltype(&jankbox_dispatch_end_all)>(library, "jankbox_dispatch_end_all"),
                  [](const char* name) { g_watch_this_thread(name); }};
  g_slow_message_ms =
      Symbol<decltype(&jankbox_slow_message_ms)>(library, "jankbox_slow_message_ms");
  g_stop = Symbol<decltype(&jankbox_stop)>(library, "jankbox_stop");
  g_process_exits = Symbol<decltype(&jankbox_process_exits)>(library, "jankbox_process_exits");
  return g_start != nullptr && g_process_exits != nullptr && g_watch_this_thread != nullptr &&
         g_slow_message_ms != nullptr && g_call_table.begin != nullptr &&
         g_call_table.end != nullptr && g_stop != nullptr;
}

// What the program does from now on is no message of its loop. On the thread that calls exit().
void NameExit() {
  const DispatchCalls* calls = Calls();
  LoopDispatches* loop = calls != nullptr ? WatchedLoops::OfThisThread() : nullptr;
  if (loop != nullptr) loop->NameExit(calls);
}

// A UI that starts up has no loop yet. Until it has one, the modules that it loads are noted.
void FollowModulesUntilLoopRuns() {
  uint64_t poll_ns = 100 * jankbox::kNsPerMs;
  while (WatchedLoops::Main().loop_name()[0] == '\0' && !UiThreadSearch::LoopRuns() &&
         !g_has_java_ui.load() && !g_leaving.load()) {
    g_leaving_wakes.Wait(poll_ns = std::min(poll_ns + poll_ns / 8, jankbox::kNsPerSecond));
    jankbox::LoopModules::Refresh();
  }
  LoopWaits::SetTerminals(jankbox::UsersTerminals());  // ncurses and S-Lang open their own
}

bool StartRecorder() {
  if (g_leaving) return false;
  jankbox::LoopModules::Refresh();
  jankbox_options options{};
  options.size = sizeof(options);
  options.flags = JANKBOX_FLAG_NO_LOOP_HOOKS;
  if (g_start(&options) != JANKBOX_OK) return false;
  if (g_leaving) {  // LeaveBeforeSandbox() waits, or gave up
    g_stop();
    return false;
  }
  Process()->calls.store(&g_call_table, std::memory_order_release);
  return true;
}

void* StartAndFollow(void*) {
  jankbox::NameCurrentThread("jankbox-start");
  if (Calls() != nullptr || StartRecorder()) {
    FollowModulesUntilLoopRuns();
    const char* loop = WatchedLoops::Main().loop_name();
    const char* run = jankbox::RunSocketName();
    if (loop[0] != '\0' && run != nullptr && !g_leaving.load()) {
      jankbox::SendToRun(run, "watched: " + jankbox::WaitingLoopText(
                                                getpid(), loop, program_invocation_short_name));
    }
    // Runs before the handlers that the program has registered by now.
    if (!g_leaving.load()) atexit(NameExit);
  }
  Process()->phase = Phase::kStarted;
  return nullptr;
}

void StartThread() {
  const int saved_errno = errno;
  jankbox::ScopedSignalBlock no_signals;
  pthread_t thread;
  if (pthread_create(&thread, nullptr, StartAndFollow, nullptr) == 0) {
    pthread_detach(thread);
  } else {
    Process()->phase = Phase::kStarted;
  }
  errno = saved_errno;
}

// A watched thread waits in a loop: only now is it worth a ring.
void StartOnce() {
  Phase phase = Process()->phase.load(std::memory_order_relaxed);
  if (phase != Phase::kMayStart || Process()->pid != getpid()) return;
  if (Process()->phase.compare_exchange_strong(phase, Phase::kStarts)) StartThread();
}

// Before main(), in its thread: what it does until its loop waits is a start-up.
void RecordStartUp() {
  LoopDispatches* loop = WatchedLoops::OfThisThread();
  if (loop == nullptr || !StartRecorder()) return;
  loop->BeginStartUp(Calls());
  Process()->phase = Phase::kStarts;
  StartThread();
}

// The program puts itself into a sandbox, which may kill a thread for a system call of the
// recorder's: nothing of that runs when the filter takes effect.
void LeaveBeforeSandbox() {
  constexpr int kMaxWaitMs = 2000;
  UiThreadSearch::End();
  // Nothing is done, and no system call made, once this is over: the filter may forbid even that.
  Phase phase = Process()->phase;
  if (phase == Phase::kNotRecorded || (phase == Phase::kStarted && Calls() == nullptr)) return;
  if (Process()->pid != getpid()) return;
  g_leaving = true;
  g_leaving_wakes.Wake();
  phase = Phase::kMayStart;
  Process()->phase.compare_exchange_strong(phase, Phase::kNotRecorded);
  const int saved_errno = errno;
  if (const char* run = jankbox::RunSocketName(); run != nullptr) {
    jankbox::SendToRun(run, std::string("error: ") + program_invocation_short_name +
                                " puts itself into a sandbox (seccomp): it is not recorded from "
                                "then on");
  }
  for (int ms = 0; ms < kMaxWaitMs && Process()->phase == Phase::kStarts; ++ms) usleep(1000);
  if (Process()->calls.exchange(nullptr) != nullptr) g_stop();
  errno = saved_errno;
}

// The process ends without destructors: perhaps in a signal handler, or in a child of vfork().
void NoteExit() {
  if (Calls() != nullptr) g_process_exits();
}

[[noreturn]] void Exit(int status) {
  NoteExit();
  if (g_real_exit != nullptr) g_real_exit(status);
  while (true) syscall(SYS_exit_group, status);
}

void InForkedChild() {
  g_forked = true;
  Process()->phase = Phase::kNotRecorded;  // for kernels that wipe no pages
  Process()->calls.store(nullptr, std::memory_order_relaxed);
  Process()->pid = 0;
  WatchedLoops::ForgetAll();
  UiThreadSearch::End();
}

// The next definition of a wait in the program's order of libraries. Asked once each.
template <typename Function>
Function* Real(OriginalFunction* original, const char* name) {
  if (__builtin_expect(original->address() == nullptr, 0)) original->Set(dlsym(RTLD_NEXT, name));
  return original->Get<Function>();
}

// Those that signal handlers and forked children may call, where the loader must not be asked.
#define JANKBOX_FIRST_FUNCTIONS(X) \
  X(poll)                          \
  X(__poll_chk)                    \
  X(ppoll)                         \
  X(__ppoll_chk)                   \
  X(epoll_wait) X(epoll_pwait) X(epoll_pwait2) X(select) X(pselect) X(read) X(__read_chk) X(prctl)
#define JANKBOX_DECLARE(name) constinit OriginalFunction g_real_##name;
JANKBOX_FIRST_FUNCTIONS(JANKBOX_DECLARE)

// Loads the recorder, which a later wait starts.
bool PrepareRecorder() {
  void* library = LoadRecorder();  // `jankbox run` looked for it before it started us
  if (library == nullptr || !BindRecorder(library)) return false;
  jankbox::LoopModules::Refresh();
  LoopWaits::SetTerminals(jankbox::UsersTerminals());
  jankbox::WantThreadsOfOptions();
  bool wiped = false;
  void* memory = jankbox::MapWipedOnFork(sizeof(ThisProcess), &wiped);
  if (memory == nullptr) return false;
  auto* process = new (memory) ThisProcess();
  process->pid = getpid();
  g_process.store(process, std::memory_order_release);
  return true;
}

__attribute__((constructor)) void Prepare() {
#define JANKBOX_FIND(name) Real<void()>(&g_real_##name, #name);
  JANKBOX_FIRST_FUNCTIONS(JANKBOX_FIND)
  g_real_exit = Symbol<decltype(g_real_exit)>(RTLD_NEXT, "_exit");
  at_quick_exit(NoteExit);
  jankbox::LoaderUse::Register();
  pthread_atfork(nullptr, nullptr, InForkedChild);
  const AgentSettings settings = jankbox::ReadAgentSettings();
  if (!jankbox::IsToBeRecorded(settings) || !PrepareRecorder()) return;
  if (!settings.startup) Process()->phase = Phase::kMayStart;
  if (settings.startup) RecordStartUp();
  UiThreadSearch::Begin(jankbox::RunSocketName());
}

void TellUnreported(const LoopDispatches& loop) {
  const char* run = jankbox::RunSocketName();
  const std::string unreported = jankbox::UnreportedOf(loop, g_slow_message_ms());
  if (!unreported.empty() && run != nullptr) jankbox::SendToRun(run, unreported);
}

// `jankbox run` hears of windows of Java that it could watch.
void TellJavaUi() {
  const char* run = jankbox::RunSocketName();
  const AgentSettings settings = jankbox::ReadAgentSettings();
  if (run == nullptr || settings.java || !jankbox::NameIsToBeRecorded(settings)) return;
  if (jankbox::HasJavaUi()) jankbox::SendToRun(run, jankbox::kJavaUiNotWatched);
}

__attribute__((destructor)) void Finish() {
  if (g_forked) return;  // a thread that is no more may hold the loader's lock here
  TellJavaUi();
  const DispatchCalls* calls = Calls();
  if (calls == nullptr) return;
  LoopDispatches* loop = WatchedLoops::OfThisThread();
  if (loop != nullptr && loop->starts_up()) {
    g_process_exits();
  } else if (loop != nullptr) {
    loop->NameExit(calls);  // the recorder was started after all exit handlers
    loop->Finish(calls);
  }
  if (loop != nullptr) TellUnreported(*loop);
  g_stop();
}

}  // namespace

#define JANKBOX_FORWARD(name, call, ...)                        \
  auto* function = Real<decltype(name)>(&g_real_##name, #name); \
  const jankbox::WaitCall this_wait = call;                     \
  UiThreadSearch::OnWait(this_wait);                            \
  ThreadWait wait(Calls(), this_wait);                          \
  if (wait.needs_recorder()) StartOnce();                       \
  const int result = function(__VA_ARGS__);                     \
  wait.Done(Calls());                                           \
  return result

#define JANKBOX_EXPORT extern "C" __attribute__((visibility("default")))

JANKBOX_EXPORT int poll(pollfd* fds, nfds_t count, int timeout) {
  JANKBOX_FORWARD(poll, JANKBOX_POLL_CALL(fds, count, timeout == 0), fds, count, timeout);
}

JANKBOX_EXPORT int ppoll(pollfd* fds, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  JANKBOX_FORWARD(ppoll, JANKBOX_POLL_CALL(fds, count, JANKBOX_IS_ZERO(timeout, tv_nsec)), fds,
                  count, timeout, mask);
}

JANKBOX_EXPORT int epoll_wait(int epfd, epoll_event* events, int max_events, int timeout) {
  JANKBOX_FORWARD(epoll_wait, JANKBOX_EPOLL_CALL(epfd, timeout == 0), epfd, events, max_events,
                  timeout);
}

JANKBOX_EXPORT int epoll_pwait(int epfd, epoll_event* events, int max_events, int timeout,
                               const sigset_t* mask) {
  JANKBOX_FORWARD(epoll_pwait, JANKBOX_EPOLL_CALL(epfd, timeout == 0), epfd, events, max_events,
                  timeout, mask);
}

JANKBOX_EXPORT int epoll_pwait2(int epfd, epoll_event* events, int max_events,
                                const timespec* timeout, const sigset_t* mask) {
  JANKBOX_FORWARD(epoll_pwait2, JANKBOX_EPOLL_CALL(epfd, JANKBOX_IS_ZERO(timeout, tv_nsec)), epfd,
                  events, max_events, timeout, mask);
}

JANKBOX_EXPORT int select(int nfds, fd_set* read, fd_set* write, fd_set* except, timeval* timeout) {
  JANKBOX_FORWARD(select,
                  JANKBOX_SELECT_CALL(nfds, read, write, except, JANKBOX_IS_ZERO(timeout, tv_usec)),
                  nfds, read, write, except, timeout);
}

JANKBOX_EXPORT int pselect(int nfds, fd_set* read, fd_set* write, fd_set* except,
                           const timespec* timeout, const sigset_t* mask) {
  JANKBOX_FORWARD(pselect,
                  JANKBOX_SELECT_CALL(nfds, read, write, except, JANKBOX_IS_ZERO(timeout, tv_nsec)),
                  nfds, read, write, except, timeout, mask);
}

// Functions that programs compiled with _FORTIFY_SOURCE call.
extern "C" int __poll_chk(pollfd* fds, nfds_t count, int timeout, size_t fds_bytes);
extern "C" int __ppoll_chk(pollfd* fds, nfds_t count, const timespec* timeout, const sigset_t* mask,
                           size_t fds_bytes);

JANKBOX_EXPORT int __poll_chk(pollfd* fds, nfds_t count, int timeout, size_t fds_bytes) {
  JANKBOX_FORWARD(__poll_chk, JANKBOX_POLL_CALL(fds, count, timeout == 0), fds, count, timeout,
                  fds_bytes);
}

JANKBOX_EXPORT int __ppoll_chk(pollfd* fds, nfds_t count, const timespec* timeout,
                               const sigset_t* mask, size_t fds_bytes) {
  JANKBOX_FORWARD(__ppoll_chk, JANKBOX_POLL_CALL(fds, count, JANKBOX_IS_ZERO(timeout, tv_nsec)),
                  fds, count, timeout, mask, fds_bytes);
}

// --- Loops that a Java VM reports (preload_link.h)

JANKBOX_EXPORT bool jankbox_agent_records_java() {
  if (Process()->pid == getpid()) return true;
  if (g_forked) return false;
  if (!jankbox::NameIsToBeRecorded(jankbox::ReadAgentSettings()) || !PrepareRecorder())
    return false;
  Process()->phase = Phase::kMayStart;
  return true;
}

JANKBOX_EXPORT void jankbox_agent_java_ui() {
  g_has_java_ui = true;
  UiThreadSearch::End();  // this is the UI
  StartOnce();
}

JANKBOX_EXPORT void jankbox_agent_leave_thread() { WatchedLoops::LeaveThisThread(); }

JANKBOX_EXPORT void _exit(int status) { Exit(status); }

JANKBOX_EXPORT void _Exit(int status) noexcept { Exit(status); }

// --- Reads of the terminal, where ncurses and the like wait for the user

extern "C" ssize_t __read_chk(int fd, void* buffer, size_t bytes, size_t buffer_bytes);

#define JANKBOX_FORWARD_READ(name, ...)                         \
  auto* function = Real<decltype(name)>(&g_real_##name, #name); \
  if (!LoopWaits::IsTerminal(fd)) return function(__VA_ARGS__); \
  ThreadWait wait(Calls(), JANKBOX_READ_CALL(fd));              \
  if (wait.needs_recorder()) StartOnce();                       \
  const ssize_t result = function(__VA_ARGS__);                 \
  wait.Done(Calls());                                           \
  return result

JANKBOX_EXPORT ssize_t read(int fd, void* buffer, size_t bytes) {
  JANKBOX_FORWARD_READ(read, fd, buffer, bytes);
}

JANKBOX_EXPORT ssize_t __read_chk(int fd, void* buffer, size_t bytes, size_t buffer_bytes) {
  JANKBOX_FORWARD_READ(__read_chk, fd, buffer, bytes, buffer_bytes);
}

// --- Sandboxes

JANKBOX_EXPORT int prctl(int option, ...) {
  auto* function = Real<int(int, ...)>(&g_real_prctl, "prctl");
  va_list list;
  va_start(list, option);
  unsigned long arguments[4];
  for (unsigned long& argument : arguments) argument = va_arg(list, unsigned long);
  va_end(list);
  // Without a filter it fails, which is how Firefox asks whether the kernel has filters.
  const bool asks = arguments[0] == SECCOMP_MODE_FILTER && arguments[1] == 0;
  if (option == PR_SET_SECCOMP && !asks) LeaveBeforeSandbox();
  return function(option, arguments[0], arguments[1], arguments[2], arguments[3]);
}

// --- Event queues that programs ask as they like

// The caller's library: one that was loaded with a plugin is not among the program's own libraries.
template <typename Function>
static Function* RealOfCaller(OriginalFunction* original, const char* name, const void* caller) {
  auto* real = Real<Function>(original, name);
  Dl_info module;
  if (real != nullptr || dladdr(caller, &module) == 0) return real;
  void* library = dlopen(module.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  original->Set(dlsym(library, name));
  return original->Get<Function>();
}

#define JANKBOX_FORWARD_PUMP(library, name, ...)                                            \
  static constinit OriginalFunction real;                                                   \
  auto* function = RealOfCaller<decltype(name)>(&real, #name, __builtin_return_address(0)); \
  if (function == nullptr) return 0;                                                        \
  const jankbox::WaitCall this_wait = JANKBOX_PUMP_CALL(library);                           \
  UiThreadSearch::OnWait(this_wait);                                                        \
  ThreadWait wait(Calls(), this_wait);                                                      \
  if (wait.needs_recorder()) StartOnce();                                                   \
  const int result = function(__VA_ARGS__);                                                 \
  wait.Done(Calls());                                                                       \
  return result

JANKBOX_EXPORT int SDL_PollEvent(void* event) { JANKBOX_FORWARD_PUMP("sdl", SDL_PollEvent, event); }

JANKBOX_EXPORT int SDL_WaitEvent(void* event) { JANKBOX_FORWARD_PUMP("sdl", SDL_WaitEvent, event); }

JANKBOX_EXPORT int SDL_WaitEventTimeout(void* event, int timeout_ms) {
  JANKBOX_FORWARD_PUMP("sdl", SDL_WaitEventTimeout, event, timeout_ms);
}

// Returns nothing: the value does not matter.
JANKBOX_EXPORT int SDL_PumpEvents() { JANKBOX_FORWARD_PUMP("sdl", SDL_PumpEvents); }

// With threads, Tcl and Tk wait here for a condition, and another thread polls.
JANKBOX_EXPORT int Tcl_WaitForEvent(const void* time) {
  JANKBOX_FORWARD_PUMP("tcl", Tcl_WaitForEvent, time);
}

// libseccomp's, which makes the system call without the C library's prctl().
JANKBOX_EXPORT int seccomp_load(void* context) {
  static constinit OriginalFunction real;
  auto* function =
      RealOfCaller<decltype(seccomp_load)>(&real, "seccomp_load", __builtin_return_address(0));
  if (function == nullptr) return -ENOSYS;
  LeaveBeforeSandbox();
  return function(context);
}
