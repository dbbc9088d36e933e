#include "tracer/interpose/end_proxies.h"

#include <alloca.h>
#include <signal.h>
#include <stdarg.h>
#include <unistd.h>

#include <cerrno>

#include "tracer/event/event_sink.h"
#include "tracer/ring/recorder.h"
#include "tracer/ring/ring_end_note.h"

namespace jankbox {
namespace {

using Hook = HookedBy<HookFeature::kEnds>;

// Null in a child of vfork(), too, whose memory is its parent's.
const RingHeader* OwnRing() {
  const RingHeader* ring = Recorder::ActiveRing();
  return ring != nullptr && ring->pid == getpid() ? ring : nullptr;
}

template <HookId kId>
[[noreturn]] void ExitProxy(int status) {
  if (const RingHeader* ring = OwnRing(); ring != nullptr) RingEndNote::Exits(ring);
  Hook::Original<kId, void(int)>()(status);
  __builtin_unreachable();
}

[[noreturn]] void AbortProxy() {
  if (const RingHeader* ring = OwnRing(); ring != nullptr) {
    RingEndNote::BeginCall(ring, RingEndCall::kAbort, SIGABRT, NowTicks());
  }
  Hook::Original<HookId::kAbort, void()>()();
  __builtin_unreachable();
}

// With a handler, or ignored, a signal ends nothing by itself.
bool Ends(int signal) {
  if (signal == SIGCHLD || signal == SIGCONT || signal == SIGURG || signal == SIGWINCH ||
      signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU) {
    return false;
  }
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && (action.sa_flags & SA_SIGINFO) == 0 &&
         action.sa_handler == SIG_DFL;
}

// A handler that raises its own signal again ends the process when it returns.
bool IsBlocked(int signal) {
  const int saved_errno = errno;
  sigset_t blocked;
  const bool is =
      pthread_sigmask(SIG_BLOCK, nullptr, &blocked) == 0 && sigismember(&blocked, signal) == 1;
  errno = saved_errno;
  return is;
}

int RaiseProxy(int signal) {
  const int saved_errno = errno;
  const RingHeader* ring = OwnRing();
  if (ring != nullptr && !Ends(signal)) ring = nullptr;
  errno = saved_errno;
  if (ring != nullptr) RingEndNote::BeginCall(ring, RingEndCall::kRaise, signal, NowTicks());
  const int result = Hook::Original<HookId::kRaise, int(int)>()(signal);
  if (ring != nullptr && !IsBlocked(signal)) RingEndNote::EndCall(ring);
  return result;
}

// `execute()` returns only if it failed.
template <typename Execute>
int Exec(Execute execute) {
  const RingHeader* ring = OwnRing();
  const bool noted = ring != nullptr && RingEndNote::Exits(ring);
  const int result = execute();
  if (noted) RingEndNote::Stays(ring);
  return result;
}

int ExecveProxy(const char* path, char* const* argv, char* const* environment) {
  auto* real = Hook::Original<HookId::kExecve, int(const char*, char* const*, char* const*)>();
  return Exec([&] { return real(path, argv, environment); });
}

int ExecvProxy(const char* path, char* const* argv) {
  auto* real = Hook::Original<HookId::kExecv, int(const char*, char* const*)>();
  return Exec([&] { return real(path, argv); });
}

int ExecvpProxy(const char* file, char* const* argv) {
  auto* real = Hook::Original<HookId::kExecvp, int(const char*, char* const*)>();
  return Exec([&] { return real(file, argv); });
}

int ExecvpeProxy(const char* file, char* const* argv, char* const* environment) {
  auto* real = Hook::Original<HookId::kExecvpe, int(const char*, char* const*, char* const*)>();
  return Exec([&] { return real(file, argv, environment); });
}

int FexecveProxy(int fd, char* const* argv, char* const* environment) {
  auto* real = Hook::Original<HookId::kFexecve, int(int, char* const*, char* const*)>();
  return Exec([&] { return real(fd, argv, environment); });
}

// Puts the arguments from `first` to the null that ends them into an array of this frame, which is
// alive while `execute(argv)` runs; `list` is past that null then.
template <typename Execute>
int ExecList(const char* first, va_list* list, Execute execute) {
  va_list counted;
  va_copy(counted, *list);
  size_t count = 1;
  for (const char* next = first; next != nullptr; ++count) next = va_arg(counted, const char*);
  va_end(counted);
  auto* argv = static_cast<char**>(alloca(count * sizeof(char*)));
  argv[0] = const_cast<char*>(first);
  for (size_t i = 1; i < count; ++i) argv[i] = va_arg(*list, char*);
  return Exec([&] { return execute(argv); });
}

// Those with a list of arguments are executed through the ones with an array, as the C library
// does it.
int ExeclProxy(const char* path, const char* first, ...) {
  va_list list;
  va_start(list, first);
  const int result = ExecList(first, &list, [&](char** argv) { return execv(path, argv); });
  va_end(list);
  return result;
}

int ExeclpProxy(const char* file, const char* first, ...) {
  va_list list;
  va_start(list, first);
  const int result = ExecList(first, &list, [&](char** argv) { return execvp(file, argv); });
  va_end(list);
  return result;
}

int ExecleProxy(const char* path, const char* first, ...) {
  va_list list;
  va_start(list, first);
  const int result =
      ExecList(first, &list, [&](char** argv) { return execve(path, argv, va_arg(list, char**)); });
  va_end(list);
  return result;
}

}  // namespace

std::span<const HookUse> EndHooks() {
  static const HookUse hooks[] = {
      Hook::Use<HookId::kExit>(ExitProxy<HookId::kExit>, IsOfTheApp),
      Hook::Use<HookId::kExitC>(ExitProxy<HookId::kExitC>, IsOfTheApp),
      Hook::Use<HookId::kAbort>(AbortProxy, IsOfTheApp),
      Hook::Use<HookId::kRaise>(RaiseProxy, IsOfTheApp),
      Hook::Use<HookId::kExecve>(ExecveProxy, IsOfTheApp),
      Hook::Use<HookId::kExecv>(ExecvProxy, IsOfTheApp),
      Hook::Use<HookId::kExecvp>(ExecvpProxy, IsOfTheApp),
      Hook::Use<HookId::kExecvpe>(ExecvpeProxy, IsOfTheApp),
      Hook::Use<HookId::kFexecve>(FexecveProxy, IsOfTheApp),
      Hook::Use<HookId::kExecl>(ExeclProxy, IsOfTheApp),
      Hook::Use<HookId::kExeclp>(ExeclpProxy, IsOfTheApp),
      Hook::Use<HookId::kExecle>(ExecleProxy, IsOfTheApp),
  };
  return hooks;
}

}  // namespace jankbox
