#include "diagnosis/verdict/named_waits.h"

#include <sys/syscall.h>

#include <cstring>
#include <string>

#include "base/clock.h"

namespace jankbox {
namespace {

using Kind = WaitPeer::Kind;

// Lists of how names start; each ends with a zero.
// Libraries in which others wait.
constexpr char kPassedOver[] =
    "libc.so\0libpthread\0ld-linux\0libstdc++\0libglib-2.0\0libjankbox\0[vdso]\0";
// Functions in which a thread waits until another one has read its answer from the connection. Any
// other futex of their libraries may be a lock.
constexpr char kReplies[] =
    "xcb_wait_for_\0_XReply\0_XReadEvents\0"
    "wl_display_read_events\0dbus_pending_call_block\0"
    "g_dbus_connection_send_message_with_reply_sync\0";
// Functions that wait for a lock, also inside of those.
constexpr char kLockFunctions[] =
    "XLockDisplay\0_XLockDisplay\0_XDisplayLockWait\0"
    "pthread_mutex_lock\0__lll_lock_wait\0";

struct Library {
  char module[19];  // how its name starts
  Kind kind;
  char function[8] = "";  // how one of its functions starts that waits for that; empty: any
};
constexpr Library kLibraries[] = {
    {"libxcb", Kind::kXServer},
    {"libX11", Kind::kXServer},
    {"libwayland-client", Kind::kCompositor},
    {"libdbus-1", Kind::kBus},
    {"libgio-2.0", Kind::kBus, "g_dbus_"},
    {"libsystemd", Kind::kBus, "sd_bus_"},
    {"libgallium", Kind::kGpuDriver},
    {"libvulkan_", Kind::kGpuDriver},
    {"libnvidia-", Kind::kGpuDriver},
    {"libGLX_", Kind::kGpuDriver},
    {"libEGL_", Kind::kGpuDriver},
};
// Mesa's older drivers: the ends of their names, as in swrast_dri.so.
constexpr char kDriverEnd[] = "_dri.so";
constexpr Library kDriver = {"", Kind::kGpuDriver};

// A sample is taken right after a reading.
constexpr uint64_t kAfterReadingNs = 20 * kNsPerMs;
constexpr uint64_t kNearNs = 200 * kNsPerMs;

bool Starts(const char* name, const char* start) {
  return strncmp(name, start, strlen(start)) == 0;
}

// True if `name` starts as one of the list `starts`.
bool StartsAsOneOf(const char* starts, const char* name) {
  for (; *starts != '\0'; starts += strlen(starts) + 1) {
    if (Starts(name, starts)) return true;
  }
  return false;
}

// Null if it waits for nobody in particular.
const Library* FindLibrary(const std::string& module) {
  for (const Library& library : kLibraries) {
    if (Starts(module.c_str(), library.module)) return &library;
  }
  return module.ends_with(kDriverEnd) ? &kDriver : nullptr;
}

// A server that is known by its socket, but not by its path, is what the library says.
uint8_t Refine(uint64_t time_ns, uint8_t peer, Kind kind, VerdictTimeline* readings) {
  ThreadReading reading;
  reading.peer = peer;
  const WaitPeer* known = readings->PeerOf(reading);
  if (known != nullptr && (known->kind != Kind::kProcess || kind == Kind::kNone)) return peer;
  if (kind == Kind::kNone) return 0;
  if (known == nullptr) {
    // A display's server stays the same, even if its connection was seen later; a bus has many
    // peers.
    const bool is_display = kind == Kind::kXServer || kind == Kind::kCompositor;
    const uint8_t last = readings->LastPeer(kind, is_display ? UINT64_MAX : time_ns);
    return last != 0 ? last : readings->Keep(time_ns, {.kind = kind});
  }
  WaitPeer refined = *known;
  refined.kind = kind;
  return readings->Keep(time_ns, refined);
}

// What a sample said about the server holds to the end of the wait, also where none was taken.
void NameLaterReadings(VerdictTimeline* readings) {
  std::vector<VerdictTimeline::Point>& points = readings->points();
  for (size_t i = 1; i < points.size(); ++i) {
    const ThreadReading& earlier = points[i - 1].reading;
    ThreadReading& later = points[i].reading;
    const WaitPeer* known = readings->PeerOf(earlier);
    const WaitPeer* vague = readings->PeerOf(later);
    if (known == nullptr || vague == nullptr || vague->kind != Kind::kProcess) continue;
    if (known->pid == vague->pid && IsSameWait(earlier, later)) later.peer = earlier.peer;
  }
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
  const std::string* waiting = nullptr;  // the module that waits: its frames follow each other
  const Library* library = nullptr;
  bool called = false, for_reply = false;
  for (uint32_t i = 0; i < sample.depth; ++i) {
    const auto found = frames.find(sample.pcs[i]);
    if (found == frames.end()) continue;
    const std::string& module = found->second.module;
    const char* function = found->second.function.c_str();
    if (StartsAsOneOf(kLockFunctions, function)) return Kind::kNone;
    if (waiting == nullptr && StartsAsOneOf(kPassedOver, module.c_str())) continue;
    if (waiting == nullptr) {
      waiting = &module;
      library = FindLibrary(module);
    }
    if (module != *waiting || library == nullptr) break;
    // Of the extension Present.
    if (strcmp(function, "xcb_wait_for_special_event") == 0) return Kind::kVsync;
    called = called || Starts(function, library->function);
    for_reply = for_reply || StartsAsOneOf(kReplies, function);
  }
  if (!called) return Kind::kNone;
  const bool server = library->kind != Kind::kGpuDriver;
  return server && sample.syscall == SYS_futex && !for_reply ? Kind::kNone : library->kind;
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
    const WaitReason wait = point.reading.wait;
    if (!IsWait(wait) || wait == WaitReason::kLock || sample == nullptr) continue;
    const bool same_call = !sample->running && sample->syscall == point.reading.syscall;
    if (!same_call || clock.ToMonotonicNs(sample->time_ns) + kNearNs < point.time_ns) continue;
    if (sample != judged) kind = KindOfStack(*sample, frames);
    judged = sample;
    point.reading.peer = Refine(point.time_ns, point.reading.peer, kind, &readings);
  }
  NameLaterReadings(&readings);
  NameEarlierReadings(&readings.points());
  NameChildren(&readings);
  return readings;
}

}  // namespace jankbox
