#include <dlfcn.h>

#include <cerrno>

#include "base/clock.h"
#include "base/loader_use.h"
#include "monitors/frame/frame_hooks.h"
#include "monitors/frame/frame_monitor.h"
#include "monitors/frame/gtk_frames.h"
#include "monitors/frame/swap_frames.h"
#include "tracer/hook/loaded_module.h"
#include "tracer/ring/recorder.h"

namespace jankbox {
namespace {

// SDL 2's ABI, as far as it is used here.
struct SdlDisplayMode {
  uint32_t format;
  int width, height;
  int refresh_rate;  // Hz; 0: not known
  void* driver_data;
};
using GetDisplayMode = int (*)(int display, SdlDisplayMode* mode);

// The state of a thread's swaps.
struct SwapThread {
  SwapFrames frames;
  uint32_t recording = 0;  // the one that `frames` is of
  uint32_t swaps = 0;
  uint64_t interval_ns = 0;  // 0: not known
  bool inside = false;       // a swap of SDL ends in one of EGL or GLX
};
__attribute__((tls_model("initial-exec"))) constinit thread_local SwapThread t_swap;

std::atomic<uint32_t> g_recording{0};  // counts AddFrameHooks()
std::atomic<GetDisplayMode> g_get_display_mode{nullptr};

// The first display's rate, asked for again once in a while. On the thread that SDL's video runs
// on, as SDL demands.
void AskInterval(SwapThread* thread) {
  constexpr uint32_t kSwapsBetween = 256;
  const GetDisplayMode get = g_get_display_mode.load(std::memory_order_relaxed);
  if (thread->swaps++ % kSwapsBetween != 0 || get == nullptr) return;
  SdlDisplayMode mode{};
  if (get(0, &mode) == 0 && mode.refresh_rate > 0) {
    thread->interval_ns = kNsPerSecond / static_cast<uint64_t>(mode.refresh_rate);
  }
}

void ForgetEarlierRecording(SwapThread* thread) {
  const uint32_t recording = g_recording.load(std::memory_order_relaxed);
  if (thread->recording != recording) thread->frames = SwapFrames();
  thread->recording = recording;
}

// Around a swap: reports the frame that it ends, before it waits for the display.
class SwapScope {
 public:
  explicit SwapScope(FrameSource source) {
    const RingHeader* ring = Recorder::ActiveRing();
    SwapThread* thread = &t_swap;
    if (ring == nullptr || thread->inside) return;
    const int saved_errno = errno;
    thread->inside = entered_ = true;
    if (source == FrameSource::kSdl) AskInterval(thread);
    ForgetEarlierRecording(thread);
    const WatchedSlot slot = WatchedSlot::OfThisThread(ring);
    const uint64_t dispatch_ns = slot ? slot.RunningSinceNs() : 0;
    FrameEvent frame;
    if (thread->frames.OnSwap(MonotonicNs(), dispatch_ns, &frame)) {
      frame.source = source;
      frame.interval_ns = thread->interval_ns;
      FrameMonitor::OnFrame(slot, frame);
    }
    if (slot) slot.EndStartUp();
    errno = saved_errno;
  }
  ~SwapScope() {
    if (!entered_) return;
    t_swap.frames.OnSwapDone(MonotonicNs());
    t_swap.inside = false;
  }
  SwapScope(const SwapScope&) = delete;
  SwapScope& operator=(const SwapScope&) = delete;

 private:
  bool entered_ = false;
};

// Around a pause that the program asks SDL for.
class IdleScope {
 public:
  IdleScope() : begin_ns_(Recorder::ActiveRing() == nullptr ? 0 : MonotonicNs()) {}
  ~IdleScope() {
    if (begin_ns_ == 0) return;
    ForgetEarlierRecording(&t_swap);
    const uint64_t interval_ns =
        t_swap.interval_ns != 0 ? t_swap.interval_ns : kReferenceIntervalNs;
    t_swap.frames.OnIdle(begin_ns_, MonotonicNs(), interval_ns);
  }
  IdleScope(const IdleScope&) = delete;
  IdleScope& operator=(const IdleScope&) = delete;

 private:
  uint64_t begin_ns_;
};

using Hook = HookedBy<HookFeature::kFrames>;

// The functions' own types, but for pointers to what is only passed on.
template <HookId kId, FrameSource kSource, typename Result, typename... Arguments>
Result SwapProxy(Arguments... arguments) {
  const SwapScope swap(kSource);
  return Hook::Original<kId, Result(Arguments...)>()(arguments...);
}

template <HookId kId, typename Result, typename... Arguments>
Result IdleProxy(Arguments... arguments) {
  const IdleScope idle;
  return Hook::Original<kId, Result(Arguments...)>()(arguments...);
}

template <HookId kId, FrameSource kSource, typename Result, typename... Arguments>
HookUse OfSwap() {
  return Hook::Use<kId>(&SwapProxy<kId, kSource, Result, Arguments...>, nullptr);
}

template <HookId kId, typename Result, typename... Arguments>
HookUse OfIdle() {
  return Hook::Use<kId>(&IdleProxy<kId, Result, Arguments...>, nullptr);
}

}  // namespace

void AddFrameHooks(const FrameHookSet& sources, HookSet* hooks) {
  g_recording.fetch_add(1, std::memory_order_relaxed);
  EnableGtkFrames(sources.gtk);
  constexpr char kWithout[] = "frames of a library are not recorded";
  const HookUse sdl[] = {OfSwap<HookId::kSdlRenderPresent, FrameSource::kSdl, void, void*>(),
                         OfSwap<HookId::kSdlGlSwapWindow, FrameSource::kSdl, void, void*>()};
  const HookUse pauses[] = {OfIdle<HookId::kSdlDelay, void, uint32_t>(),
                            OfIdle<HookId::kSdlWaitEvent, int, void*>(),
                            OfIdle<HookId::kSdlWaitEventTimeout, int, void*, int>()};
  const HookUse swaps[] = {
      OfSwap<HookId::kEglSwapBuffers, FrameSource::kEgl, unsigned, void*, void*>(),
      OfSwap<HookId::kGlxSwapBuffers, FrameSource::kGlx, void, void*, unsigned long>()};
  if (sources.sdl) hooks->AddAll(sdl, kWithout);
  if (sources.sdl || sources.swap) hooks->AddAll(pauses, kWithout);
  if (sources.swap) hooks->AddAll(swaps, kWithout);
}

void FollowFrameLibraries(const FrameHookSet& sources) {
  // Asking the loader for a library that is not there makes it search its cache.
  static uint64_t asked_at_loads = 0;  // for both; 0: not yet, or the loader does not count
  static bool has_gtk = false;
  const uint64_t loads = ReadLoaderCounts().loads;
  const bool asked = loads != 0 && loads == asked_at_loads;
  asked_at_loads = sources.gtk && sources.sdl ? loads : 0;
  if (!asked || has_gtk) has_gtk = sources.gtk && FollowGtkFrames();  // which waits for a window
  if (asked || !sources.sdl || g_get_display_mode.load(std::memory_order_relaxed) != nullptr) {
    return;
  }
  LoaderUse use;
  void* sdl = dlopen("libSDL2-2.0.so.0", RTLD_LAZY | RTLD_NOLOAD);
  if (sdl == nullptr) return;
  g_get_display_mode.store(
      reinterpret_cast<GetDisplayMode>(dlsym(sdl, "SDL_GetCurrentDisplayMode")),
      std::memory_order_relaxed);
  dlclose(sdl);
}

}  // namespace jankbox
