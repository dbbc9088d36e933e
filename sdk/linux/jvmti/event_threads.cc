#include "sdk/linux/jvmti/event_threads.h"

#include <string>

#include "base/clock.h"
#include "base/own_thread.h"
#include "base/thread_value.h"
#include "jankbox/jankbox.h"

namespace jankbox {
namespace {

constexpr char kLoopName[] = "awt";

constinit EventThread g_threads[EventThreads::kMaxThreads];
std::atomic<bool> g_any{false};
void (*g_leave_thread)() = nullptr;

// Of the calling thread.
JANKBOX_THREAD_VALUE(EventThread*, t_place, nullptr);  // null: no event thread, or there is no room
JANKBOX_THREAD_VALUE(bool, t_asked, false);            // for a place
JANKBOX_THREAD_VALUE(bool, t_watched, false);          // the recorder has a slot for it
JANKBOX_THREAD_VALUE(uint64_t, t_begin_ns, 0);         // of the message that runs; 0: none
JANKBOX_THREAD_VALUE(bool, t_announced, false);        // the recorder knows of it
JANKBOX_THREAD_VALUE(bool, t_named, false);

// A thread's first wait.
EventThread* TakePlace(JNIEnv* env, jobject thread) {
  g_leave_thread();
  for (EventThread& place : g_threads) {
    int32_t free = 0;
    if (!place.tid.compare_exchange_strong(free, CurrentTid(), std::memory_order_acq_rel)) continue;
    place.thread.store(env->NewGlobalRef(thread), std::memory_order_release);
    g_any.store(true, std::memory_order_relaxed);
    return &place;
  }
  return nullptr;
}

// The recorder starts a moment after the first wait.
bool IsWatched() {
  if (t_watched) return true;
  if (jankbox_slow_message_ms() == 0) return false;  // its clock is not ready
  const jankbox_status status = jankbox_watch_this_thread(kLoopName);
  if (status == JANKBOX_OK) t_watched = true;
  if (status == JANKBOX_NO_SPACE) t_place = nullptr;  // 8 other threads are watched
  return t_watched;
}

// A message that ran before the recorder did is reported with its real start.
void EndMessage() {
  EventThread* const place = t_place;  // IsWatched() may give it up
  if (!t_announced && place != nullptr && IsWatched()) {
    const RunningMessage& message = place->message;
    const std::string name = t_named ? message.NameOf(message.Sequence()) : "";
    jankbox_dispatch_begin(name.c_str(), t_begin_ns);
    t_announced = true;
  }
  if (t_announced) jankbox_dispatch_end_all();
  if (place != nullptr) place->message.End();
  t_begin_ns = 0;
  t_announced = false;
  t_named = false;
}

}  // namespace

void EventThreads::SetPreload(void (*leave_thread)()) { g_leave_thread = leave_thread; }

bool EventThreads::OnWait(JNIEnv* env, jobject thread) {
  const bool first = !t_asked;
  t_asked = true;
  if (first) t_place = TakePlace(env, thread);
  if (t_begin_ns != 0) EndMessage();
  return first;
}

void EventThreads::OnDispatch() {
  if (t_place == nullptr || t_begin_ns != 0) return;
  t_begin_ns = MonotonicNs();
  if (!IsWatched()) return;
  jankbox_dispatch_begin(nullptr, 0);
  t_announced = true;
}

void EventThreads::OnName(const char* name) {
  t_named = true;
  t_place->message.Begin(name);
  if (t_announced) jankbox_dispatch_begin(name, 0);  // lends its name to the one around it
}

bool EventThreads::NeedsName() { return t_place != nullptr && t_begin_ns != 0 && !t_named; }

bool EventThreads::any() { return g_any.load(std::memory_order_relaxed); }

EventThread& EventThreads::At(size_t index) { return g_threads[index]; }

void EventThreads::Free(JNIEnv* env, EventThread* place) {
  const jobject thread = place->thread.exchange(nullptr, std::memory_order_acq_rel);
  if (thread != nullptr) env->DeleteGlobalRef(thread);
  place->message.End();
  place->tid.store(0, std::memory_order_release);
}

}  // namespace jankbox
