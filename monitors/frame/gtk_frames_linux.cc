#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "base/clock.h"
#include "base/loader_use.h"
#include "monitors/frame/frame_monitor.h"
#include "monitors/frame/gtk_frames.h"
#include "tracer/ring/recorder.h"

namespace jankbox {
namespace {

// GObject's and GDK's ABI, as far as it is used here; the same in GTK 3 and 4.
using EmissionHook = int (*)(void* hint, unsigned values, const void* first_value, void* data);
struct Gtk {
  size_t (*type_from_name)(const char*);
  unsigned (*signal_lookup)(const char*, size_t type);
  unsigned long (*add_emission_hook)(unsigned signal, uint32_t detail, EmissionHook, void* data,
                                     void (*destroy)(void*));
  void* (*peek_pointer)(const void* value);
  int64_t (*frame_time)(void* clock);     // us of CLOCK_MONOTONIC
  int64_t (*frame_counter)(void* clock);  // from 0
  void (*refresh_info)(void* clock, int64_t base_us, int64_t* interval_us,
                       int64_t* presentation_us);
};

Gtk g_gtk;  // complete before the first hook is added
std::atomic<bool> g_on{false};
bool g_hooked = false;  // the watcher's

// Of GTK's thread, which all its clocks live on: the frame that is being painted.
struct Painting {
  void* clock = nullptr;  // null: none
  uint64_t start_ns = 0;
};
constinit Painting g_painting;

enum Step : uintptr_t { kBegin, kUpdate, kPaint, kEnd };
struct StepSignal {
  const char* signal;
  Step step;
};
// Layout is skipped if nothing changed its size.
constexpr StepSignal kSteps[] = {{"before-paint", kBegin},
                                 {"update", kUpdate},
                                 {"layout", kPaint},
                                 {"paint", kPaint},
                                 {"after-paint", kEnd}};

FrameEvent FrameOf(void* clock, uint64_t start_ns, uint64_t end_ns) {
  FrameEvent frame;
  frame.source = FrameSource::kGtk;
  frame.start_ns = start_ns;
  frame.end_ns = end_ns;
  const int64_t frame_us = g_gtk.frame_time(clock);
  int64_t interval_us = 0, presentation_us = 0;
  g_gtk.refresh_info(clock, frame_us, &interval_us, &presentation_us);
  frame.interval_ns = static_cast<uint64_t>(interval_us) * 1000;
  // Smoothed by GTK: it may be in an adjacent interval.
  const uint64_t frame_ns = static_cast<uint64_t>(frame_us) * 1000;
  if (frame_ns <= start_ns && start_ns - frame_ns < frame.interval_ns) frame.vsync_ns = frame_ns;
  frame.vsync_id = static_cast<uint64_t>(g_gtk.frame_counter(clock));
  return frame;
}

// On GTK's thread, before the signal's own handlers run. Never taken away: returns TRUE.
int OnStep(void* /*hint*/, unsigned /*values*/, const void* first_value, void* data) {
  constexpr int kStay = 1;
  const RingHeader* ring = g_on.load(std::memory_order_relaxed) ? Recorder::ActiveRing() : nullptr;
  if (ring == nullptr) {
    g_painting.clock = nullptr;
    return kStay;
  }
  const Step step = static_cast<Step>(reinterpret_cast<uintptr_t>(data));
  void* clock = g_gtk.peek_pointer(first_value);
  const uint64_t now_ns = MonotonicNs();
  if (step == kBegin) g_painting = {clock, now_ns};
  if (g_painting.clock != clock) return kStay;  // a clock that began before we looked
  const WatchedSlot slot = WatchedSlot::OfThisThread(ring);
  if (step != kEnd) {
    constexpr FramePhase kPhases[] = {FramePhase::kInput, FramePhase::kAnimation,
                                      FramePhase::kTraversal};
    FrameMonitor::MarkPhase(slot, kPhases[step], now_ns);
    return kStay;
  }
  g_painting.clock = nullptr;
  FrameMonitor::OnFrame(slot, FrameOf(clock, g_painting.start_ns, now_ns));
  return kStay;
}

template <typename Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

bool FindAll(void* library) {
  return Find(library, "g_type_from_name", &g_gtk.type_from_name) &&
         Find(library, "g_signal_lookup", &g_gtk.signal_lookup) &&
         Find(library, "g_signal_add_emission_hook", &g_gtk.add_emission_hook) &&
         Find(library, "g_value_peek_pointer", &g_gtk.peek_pointer) &&
         Find(library, "gdk_frame_clock_get_frame_time", &g_gtk.frame_time) &&
         Find(library, "gdk_frame_clock_get_frame_counter", &g_gtk.frame_counter) &&
         Find(library, "gdk_frame_clock_get_refresh_info", &g_gtk.refresh_info);
}

// False until the class of the clock is there, with its signals.
bool HookClock() {
  const size_t type = g_gtk.type_from_name("GdkFrameClock");
  if (type == 0) return false;
  unsigned signals[std::size(kSteps)];
  for (size_t i = 0; i < std::size(kSteps); ++i) {
    signals[i] = g_gtk.signal_lookup(kSteps[i].signal, type);
    if (signals[i] == 0) return false;
  }
  for (size_t i = 0; i < std::size(kSteps); ++i) {
    g_gtk.add_emission_hook(signals[i], 0, OnStep, reinterpret_cast<void*>(kSteps[i].step),
                            nullptr);
  }
  return true;
}

}  // namespace

bool FollowGtkFrames() {
  bool loaded = false;
  constexpr const char* kLibraries[] = {"libgtk-3.so.0", "libgtk-4.so.1"};
  for (const char* name : kLibraries) {
    if (g_hooked) return true;
    LoaderUse use;
    void* library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    loaded = true;
    g_hooked = FindAll(library) && HookClock();
    dlclose(library);  // the host's own reference stays: GTK is never unloaded
  }
  return loaded;
}

void EnableGtkFrames(bool on) { g_on.store(on, std::memory_order_relaxed); }

}  // namespace jankbox
