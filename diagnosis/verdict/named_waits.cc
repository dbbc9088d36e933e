#include "diagnosis/verdict/named_waits.h"

#include <sys/syscall.h>

#include <algorithm>
#include <string_view>

#include "base/clock.h"

namespace jankbox {
namespace {

using Kind = WaitPeer::Kind;

// Libraries in which others wait.
constexpr char kPassedOver[][12] = {"libc.so",     "libpthread", "ld-linux", "libstdc++",
                                    "libglib-2.0", "libjankbox", "[vdso]"};

constexpr struct {
  char module[19];  // how its name starts
  Kind kind;
} kLibraries[] = {
    {"libxcb", Kind::kXServer},
    {"libX11", Kind::kXServer},
    {"libwayland-client", Kind::kCompositor},
    {"libdbus-1", Kind::kBus},
    {"libgio-2.0", Kind::kBus},
    {"libsystemd", Kind::kBus},
    {"libgallium", Kind::kGpuDriver},
    {"libvulkan_", Kind::kGpuDriver},
    {"libnvidia-", Kind::kGpuDriver},
    {"libGLX_", Kind::kGpuDriver},
    {"libEGL_", Kind::kGpuDriver},
};
// How the names of Mesa's older drivers end: swrast_dri.so.
constexpr std::string_view kDriverEnd = "_dri.so";

// A sample is taken right after a reading.
constexpr uint64_t kAfterReadingNs = 20 * kNsPerMs;
constexpr uint64_t kNearNs = 200 * kNsPerMs;

bool IsPassedOver(std::string_view module) {
  return std::any_of(std::begin(kPassedOver), std::end(kPassedOver),
                     [module](const char* start) { return module.starts_with(start); });
}

Kind KindOfModule(std::string_view module) {
  for (const auto& library : kLibraries) {
    if (module.starts_with(library.module)) return library.kind;
  }
  return module.ends_with(kDriverEnd) ? Kind::kGpuDriver : Kind::kNone;
}

// A server that is known by its socket, but not by its path, is what the library says.
uint8_t Refine(uint64_t time_ns, uint8_t peer, Kind kind, VerdictTimeline* readings) {
  ThreadReading reading;
  reading.peer = peer;
  const WaitPeer* known = readings->PeerOf(reading);
  if (known != nullptr && (known->kind != Kind::kProcess || kind == Kind::kNone)) return peer;
  if (kind == Kind::kNone) return 0;
  if (known == nullptr) {
    const uint8_t last = readings->LastPeer(kind, time_ns);
    return last != 0 ? last : readings->Keep(time_ns, {.kind = kind});
  }
  WaitPeer refined = *known;
  refined.kind = kind;
  return readings->Keep(time_ns, refined);
}

// A wait is asked about and sampled once it is overdue.
void NameEarlierReadings(std::vector<VerdictTimeline::Point>* points) {
  for (size_t i = points->size(); i-- > 1;) {
    ThreadReading& earlier = (*points)[i - 1].reading;
    const ThreadReading& later = (*points)[i].reading;
    if (later.peer != 0 && IsSameWait(earlier, later)) earlier.peer = later.peer;
  }
}

// A wait for a child that nobody asked about, as in a dead process's samples.
void NameChildren(VerdictTimeline* readings) {
  for (VerdictTimeline::Point& point : readings->points()) {
    ThreadReading& reading = point.reading;
    const bool for_child = reading.syscall == SYS_wait4 || reading.syscall == SYS_waitid;
    if (for_child && reading.peer == 0) {
      reading.peer = readings->Keep(point.time_ns, {.kind = Kind::kChild});
    }
  }
}

}  // namespace

Kind KindOfStack(const StackSample& sample, const FrameTable& frames) {
  std::string_view library;  // that waits: its frames follow each other
  Kind kind = Kind::kNone;
  bool of_bus = false;
  for (uint32_t i = 0; i < sample.depth; ++i) {
    const auto found = frames.find(sample.pcs[i]);
    if (found == frames.end()) continue;
    const std::string_view module = found->second.module, function = found->second.function;
    if (library.empty() && IsPassedOver(module)) continue;
    if (library.empty()) {
      library = module;
      kind = KindOfModule(module);
    }
    if (module != library) break;
    if (function == "xcb_wait_for_special_event") return Kind::kVsync;  // of the extension Present
    of_bus = of_bus || function.starts_with("g_dbus_");
  }
  return library.starts_with("libgio") && !of_bus ? Kind::kNone : kind;
}

VerdictTimeline NameWaits(VerdictTimeline readings, const std::vector<StackSample>& samples,
                          const FrameTable& frames, const TickConverter& clock) {
  size_t next = 0;
  const StackSample* sample = nullptr;  // the last one by the time of the reading
  const StackSample* judged = nullptr;
  Kind kind = Kind::kNone;
  for (VerdictTimeline::Point& point : readings.points()) {
    while (next < samples.size() &&
           clock.ToMonotonicNs(samples[next].time_ns) <= point.time_ns + kAfterReadingNs) {
      sample = &samples[next++];
    }
    if (!IsWait(point.reading.wait) || sample == nullptr) continue;
    const bool same_call = !sample->running && sample->syscall == point.reading.syscall;
    if (!same_call || clock.ToMonotonicNs(sample->time_ns) + kNearNs < point.time_ns) continue;
    if (sample != judged) kind = KindOfStack(*sample, frames);
    judged = sample;
    point.reading.peer = Refine(point.time_ns, point.reading.peer, kind, &readings);
  }
  NameEarlierReadings(&readings.points());
  NameChildren(&readings);
  return readings;
}

}  // namespace jankbox
