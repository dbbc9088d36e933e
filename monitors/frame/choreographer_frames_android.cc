#include <dlfcn.h>

#include <cstdint>

#include "base/clock.h"
#include "monitors/frame/choreographer_frames.h"
#include "monitors/frame/frame_monitor.h"
#include "tracer/ring/recorder.h"

namespace jankbox {
namespace {

// <android/choreographer.h>, as far as it is used here. `long` has 32 bits on 32-bit ABIs: there
// the moments of API 24 turn over, and only its callback of 29 is taken.
using FrameCallback64 = void (*)(int64_t vsync_ns, void* data);
using FrameCallback = void (*)(long vsync_ns, void* data);
using VsyncCallback = void (*)(const void* frame, void* data);
struct Library {
  void* (*get_instance)();
  void (*post_frame)(void* choreographer, FrameCallback, void* data);      // 24
  void (*post_frame64)(void* choreographer, FrameCallback64, void* data);  // 29
  void (*post_vsync)(void* choreographer, VsyncCallback, void* data);      // 33, as what follows
  int64_t (*frame_time)(const void* frame);
  size_t (*preferred_timeline)(const void* frame);
  int64_t (*vsync_id)(const void* frame, size_t timeline);
  int64_t (*expected_present)(const void* frame, size_t timeline);
  int64_t (*deadline)(const void* frame, size_t timeline);
};

Library g_library;  // of the attached thread, as the next three
void* g_choreographer = nullptr;
uint64_t g_last_vsync_ns = 0;
uint64_t g_interval_ns = 0;  // the least that lay between two vsyncs lately; 0: not known

void Post();

void OnFrame(FrameEvent frame) {
  const RingHeader* ring = Recorder::ActiveRing();
  if (ring == nullptr) {
    g_choreographer = nullptr;
    return;
  }
  const uint64_t apart_ns = frame.vsync_ns - g_last_vsync_ns;
  constexpr uint64_t kSlowest = kNsPerSecond / 24;
  if (g_last_vsync_ns != 0 && apart_ns < kSlowest) g_interval_ns = apart_ns;
  g_last_vsync_ns = frame.vsync_ns;
  frame.source = FrameSource::kChoreographer;
  frame.interval_ns = g_interval_ns;
  frame.start_ns = frame.end_ns = MonotonicNs();
  FrameMonitor::OnFrame(WatchedSlot::OfThisThread(ring), frame);
  Post();
}

void OnFrame64(int64_t vsync_ns, void* /*data*/) {
  OnFrame({.vsync_ns = static_cast<uint64_t>(vsync_ns)});
}

void OnFrameLong(long vsync_ns, void* /*data*/) {
  OnFrame({.vsync_ns = static_cast<uint64_t>(vsync_ns)});
}

void OnVsync(const void* data, void* /*data*/) {
  const size_t timeline = g_library.preferred_timeline(data);
  const auto time = [&](int64_t (*of)(const void*, size_t)) {
    return static_cast<uint64_t>(of(data, timeline));
  };
  FrameEvent frame;
  frame.vsync_ns = static_cast<uint64_t>(g_library.frame_time(data));
  frame.deadline_ns = time(g_library.deadline);
  frame.expected_present_ns = time(g_library.expected_present);
  const int64_t id = g_library.vsync_id(data, timeline);
  if (id > 0) frame.vsync_id = static_cast<uint64_t>(id);
  OnFrame(frame);
}

void Post() {
  if (g_library.post_vsync != nullptr) {
    g_library.post_vsync(g_choreographer, OnVsync, nullptr);
  } else if (g_library.post_frame64 != nullptr) {
    g_library.post_frame64(g_choreographer, OnFrame64, nullptr);
  } else {
    g_library.post_frame(g_choreographer, OnFrameLong, nullptr);
  }
}

template <typename Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

bool FindAll(void* library) {
  Library* found = &g_library;
  *found = Library();
  if (!Find(library, "AChoreographer_getInstance", &found->get_instance)) return false;
  const bool vsync =
      Find(library, "AChoreographerFrameCallbackData_getFrameTimeNanos", &found->frame_time) &&
      Find(library, "AChoreographerFrameCallbackData_getPreferredFrameTimelineIndex",
           &found->preferred_timeline) &&
      Find(library, "AChoreographerFrameCallbackData_getFrameTimelineVsyncId", &found->vsync_id) &&
      Find(library, "AChoreographerFrameCallbackData_getFrameTimelineExpectedPresentationTimeNanos",
           &found->expected_present) &&
      Find(library, "AChoreographerFrameCallbackData_getFrameTimelineDeadlineNanos",
           &found->deadline);
  if (vsync && Find(library, "AChoreographer_postVsyncCallback", &found->post_vsync)) return true;
  if (Find(library, "AChoreographer_postFrameCallback64", &found->post_frame64)) return true;
  return sizeof(long) == sizeof(int64_t) &&
         Find(library, "AChoreographer_postFrameCallback", &found->post_frame);
}

}  // namespace

void StartChoreographerFrames() {
  if (g_choreographer != nullptr) return;
  void* library = dlopen("libandroid.so", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return;
  if (FindAll(library)) g_choreographer = g_library.get_instance();  // null without a Looper
  if (g_choreographer != nullptr) Post();
  dlclose(library);  // the app framework's own reference stays
}

}  // namespace jankbox
