#include "monitors/looper/watched_loops.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/thread_value.h"

namespace jankbox {
namespace {

struct Place {
  std::atomic<int32_t> tid{0};  // 0: free
  LoopDispatches loop;          // that thread's
};

constinit Place g_places[WatchedLoops::kMaxLoops];  // the first is the main thread's
// What was wanted last, and before that: never freed, since a thread may be reading it.
struct Wanted {
  const char* names;
  const Wanted* older;
};
constinit const Wanted g_none = {"", nullptr};
constinit std::atomic<const Wanted*> g_wanted{&g_none};
// Grows with whatever changes the answer; a thread asks again if its own is older.
constinit std::atomic<uint32_t> g_answers{1};

JANKBOX_THREAD_VALUE(uint32_t, t_answer, 0);
JANKBOX_THREAD_VALUE(Place*, t_place, nullptr);

bool IsWantedByName() {
  const char* wanted = g_wanted.load(std::memory_order_acquire)->names;
  if (wanted[0] == '\0') return false;
  char name[16] = {};
  if (prctl(PR_GET_NAME, name, 0, 0, 0) != 0) return false;
  const std::string_view text = name;
  return text.substr(0, 8) != "jankbox-" && NameIsListed(wanted, text);
}

bool IsGone(int32_t tid) { return syscall(SYS_tgkill, getpid(), tid, 0) != 0 && errno == ESRCH; }

// A slot for `tid`: a free one, or one whose thread is gone (perhaps with the same tid).
Place* TakePlace(int32_t tid) {
  for (int i = tid == getpid() ? 0 : 1; i < WatchedLoops::kMaxLoops; ++i) {
    int32_t owner = g_places[i].tid.load(std::memory_order_relaxed);
    if (owner != 0 && owner != tid && !IsGone(owner)) continue;
    if (!g_places[i].tid.compare_exchange_strong(owner, tid, std::memory_order_acq_rel)) continue;
    g_places[i].loop = LoopDispatches();
    return &g_places[i];
  }
  return nullptr;
}

Place* Ask(bool asked_for) {
  const int saved_errno = errno;
  t_answer = g_answers.load(std::memory_order_acquire);
  const auto tid = static_cast<int32_t>(syscall(SYS_gettid));
  const bool has_one = t_place != nullptr && t_place->tid.load(std::memory_order_relaxed) == tid;
  if (!has_one) {
    const bool watched = asked_for || tid == getpid() || IsWantedByName();
    t_place = watched ? TakePlace(tid) : nullptr;
  }
  errno = saved_errno;
  return t_place;
}

}  // namespace

bool NameIsListed(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    const std::string_view wanted = list.substr(0, comma);
    const bool open = !wanted.empty() && wanted.back() == '*';
    if (open && name.substr(0, wanted.size() - 1) == wanted.substr(0, wanted.size() - 1)) {
      return true;
    }
    if (!wanted.empty() && name == wanted) return true;
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return false;
}

void WatchedLoops::SetWanted(const char* names) {
  const Wanted* before = g_wanted.load(std::memory_order_acquire);
  if (strcmp(before->names, names) == 0) return;
  const char* copy = strdup(names);
  if (copy == nullptr) return;
  g_wanted.store(new Wanted{copy, before}, std::memory_order_release);
  g_answers.fetch_add(1, std::memory_order_release);
}

LoopDispatches* WatchedLoops::OfThisThread() {
  if (__builtin_expect(t_answer != g_answers.load(std::memory_order_relaxed), 0)) Ask(false);
  return t_place != nullptr ? &t_place->loop : nullptr;
}

bool WatchedLoops::WatchThisThread() { return Ask(true) != nullptr; }

void WatchedLoops::LeaveThisThread() {
  OfThisThread();  // what it would be is not asked again
  if (t_place != nullptr) t_place->tid.store(0, std::memory_order_release);
  t_place = nullptr;
}

const LoopDispatches& WatchedLoops::Main() { return g_places[0].loop; }

void WatchedLoops::ForgetAll() {
  for (Place& place : g_places) {
    place.tid.store(0, std::memory_order_relaxed);
    place.loop = LoopDispatches();
  }
  g_answers.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace jankbox
