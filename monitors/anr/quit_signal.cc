#include "monitors/anr/quit_signal.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "base/file.h"
#include "base/own_thread.h"
#include "base/wipe_on_fork.h"
#include "tracer/event/watcher_wake.h"

namespace jankbox {
namespace {

constexpr uint32_t kMostUnsure = 100;
constexpr char kWaiter[] = "Signal Catcher";
constexpr uint64_t kQuitBit = uint64_t{1} << (SIGQUIT - 1);

// kChild: a fork wiped the page.
enum class Mode : int { kChild = 0, kOff = 1, kOn = 2 };

struct Shared {
  std::atomic<Mode> mode;
  std::atomic<uint64_t> arrived;  // not yet taken
};

// Never unmapped: a handler that was installed later may call it at any time.
std::atomic<Shared*> g_shared{nullptr};
struct sigaction g_earlier;
bool g_covered = false;  // at the last stop a handler that was installed later was there; keep ours
bool g_unblocked = false;
uint32_t g_unsure = 0;  // times in a row without a thread that certainly waits; watcher thread

bool HasHandler(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 ||
         (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

// SIGNAL-SAFE.
void OnQuit(int signal, siginfo_t* info, void* context) {
  Shared* const shared = g_shared.load(std::memory_order_acquire);
  const Mode mode = shared->mode.load(std::memory_order_acquire);
  if (mode == Mode::kOn) {
    shared->arrived.fetch_add(1, std::memory_order_relaxed);
    WatcherWake::word().Wake();
  }
  if ((g_earlier.sa_flags & SA_SIGINFO) != 0) {
    g_earlier.sa_sigaction(signal, info, context);
  } else if (HasHandler(g_earlier)) {
    g_earlier.sa_handler(signal);
  } else if (mode == Mode::kChild && g_earlier.sa_handler == SIG_DFL) {
    struct sigaction fatal {};
    sigaction(SIGQUIT, &fatal, nullptr);
    raise(SIGQUIT);  // delivered when this handler returns
  }
}

bool IsOurs(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == OnQuit;
}

bool IsSame(const struct sigaction& one, const struct sigaction& other) {
  return one.sa_sigaction == other.sa_sigaction && HasHandler(one) == HasHandler(other);
}

Shared* MapShared() {
  bool wiped = false;
  void* page = MapWipedOnFork(sizeof(Shared), &wiped);
  return page != nullptr ? new (page) Shared() : nullptr;
}

// A line's hexadecimal value in /proc/.../status.
uint64_t MaskIn(const std::string& status, const char* name) {
  const size_t at = status.find(name);
  return at == std::string::npos ? 0 : strtoull(status.c_str() + at + strlen(name), nullptr, 16);
}

struct Waiter {
  int tid = 0;
  bool pending = false;  // the last one that it was sent
};

Waiter FindWaiter() {
  const Result<std::vector<std::string>> tids = ListDirectory("/proc/self/task");
  if (!tids.ok()) return {};
  bool unsure = false;
  for (const std::string& tid : tids.value()) {
    const std::string folder = "/proc/self/task/" + tid;
    std::string name = ReadProcFile(folder + "/comm", 64);
    while (!name.empty() && name.back() == '\n') name.pop_back();
    if (name != kWaiter) continue;
    // In sigwait the signals that it waits for are unblocked; while it deals with one, blocked.
    const std::string status = ReadProcFile(folder + "/status", 4096);
    const bool blocks = (MaskIn(status, "\nSigBlk:\t") & kQuitBit) != 0;
    // If system calls cannot be seen, its name has to do.
    const std::string call = ReadProcFile(folder + "/syscall", 64);
    const bool waits = call.empty() || atoi(call.c_str()) == SYS_rt_sigtimedwait;
    if (!blocks && !waits) {  // just woken, or it would run our handler: seen again later
      unsure = true;
      continue;
    }
    return {atoi(tid.c_str()), (MaskIn(status, "\nSigPnd:\t") & kQuitBit) != 0};
  }
  return {0, unsure};
}

}  // namespace

std::string QuitSignal::Install() {
  Shared* shared = g_shared.load(std::memory_order_relaxed);
  if (shared == nullptr) shared = MapShared();
  if (shared == nullptr) return "no memory";
  struct sigaction current {};
  sigaction(SIGQUIT, nullptr, &current);
  shared->arrived.store(0, std::memory_order_relaxed);  // of the last start
  shared->mode.store(Mode::kOn, std::memory_order_release);
  g_shared.store(shared, std::memory_order_release);
  // One that came after ours may call it: then it is not to be called by ours.
  const bool calls_ours = g_covered && HasHandler(current) && !IsSame(current, g_earlier);
  if (!IsOurs(current) && !calls_ours) {
    g_earlier = current;
    struct sigaction ours {};
    ours.sa_sigaction = OnQuit;
    ours.sa_mask = current.sa_mask;
    ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigaction(SIGQUIT, &ours, nullptr);
  }
  // Of the main thread.
  if ((MaskIn(ReadProcFile("/proc/self/status", 4096), "\nSigBlk:\t") & kQuitBit) == 0) return "";
  if (CurrentTid() != getpid()) return "the signal is blocked: start Jankbox on the main thread";
  sigset_t quit;
  sigemptyset(&quit);
  sigaddset(&quit, SIGQUIT);
  pthread_sigmask(SIG_UNBLOCK, &quit, nullptr);
  g_unblocked = true;
  return "";
}

void QuitSignal::Remove() {
  Shared* const shared = g_shared.load(std::memory_order_relaxed);
  if (shared == nullptr || shared->mode.load(std::memory_order_relaxed) != Mode::kOn) return;
  if (g_unblocked && CurrentTid() == getpid()) {
    sigset_t quit;
    sigemptyset(&quit);
    sigaddset(&quit, SIGQUIT);
    pthread_sigmask(SIG_BLOCK, &quit, nullptr);
    g_unblocked = false;
  }
  struct sigaction current {};
  sigaction(SIGQUIT, nullptr, &current);
  g_covered = !IsOurs(current);
  if (!g_covered) sigaction(SIGQUIT, &g_earlier, nullptr);
  shared->mode.store(Mode::kOff, std::memory_order_release);
}

uint64_t QuitSignal::Take() {
  Shared* const shared = g_shared.load(std::memory_order_acquire);
  return shared != nullptr ? shared->arrived.exchange(0, std::memory_order_relaxed) : 0;
}

bool QuitSignal::PassOn() {
  if (HasHandler(g_earlier) || g_earlier.sa_handler == SIG_IGN) return true;  // it has it already
  const Waiter waiter = FindWaiter();
  if (waiter.pending && (waiter.tid != 0 || ++g_unsure < kMostUnsure)) return false;
  g_unsure = 0;
  if (waiter.tid != 0) {
    syscall(SYS_tgkill, getpid(), waiter.tid, SIGQUIT);
    return true;
  }
  struct sigaction current {};
  sigaction(SIGQUIT, nullptr, &current);
  const bool removed = (current.sa_flags & SA_SIGINFO) == 0 && current.sa_handler == SIG_DFL;
  if (!IsOurs(current) && !removed) return true;  // a handler that was installed later; keep it
  struct sigaction fatal {};
  sigaction(SIGQUIT, &fatal, nullptr);
  kill(getpid(), SIGQUIT);
  return true;
}

}  // namespace jankbox
