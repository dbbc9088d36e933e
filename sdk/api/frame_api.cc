// The C surface of jankbox/frames.h: thin, never throws.
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>

#include "base/clock.h"
#include "jankbox/frames.h"
#include "monitors/frame/frame_monitor.h"
#include "monitors/frame/state_tags.h"
#include "monitors/frame/vsync_timer.h"
#include "tracer/ring/recorder.h"
#include "tracer/ring/watched_slot.h"

namespace jankbox {
namespace {

constexpr uint32_t kMaxHz = 1000;

static_assert(JANKBOX_PHASES == kFramePhases);

FrameSource SourceOf(uint32_t flags) {
  if ((flags & JANKBOX_FRAME_TIMER) != 0) return FrameSource::kTimer;
  return (flags & JANKBOX_FRAME_METRICS) != 0 ? FrameSource::kFrameMetrics : FrameSource::kApi;
}

// False where `given` is none. Fields that an older program does not have are 0.
bool ToFrame(const jankbox_frame_info* given, FrameEvent* frame) {
  jankbox_frame_info info{};
  if (given == nullptr || given->size < offsetof(jankbox_frame_info, phase_ns)) return false;
  memcpy(&info, given, given->size < sizeof(info) ? given->size : sizeof(info));
  *frame = {.vsync_ns = info.vsync_ns,
            .deadline_ns = info.deadline_ns,
            .interval_ns = info.interval_ns,
            .start_ns = info.begin_ns,
            .end_ns = info.end_ns,
            .vsync_id = info.vsync_id > 0 ? static_cast<uint64_t>(info.vsync_id) : 0,
            .expected_present_ns = info.expected_present_ns,
            .source = SourceOf(info.flags)};
  memcpy(frame->phase_ns, info.phase_ns, sizeof(frame->phase_ns));
  return true;
}

// A recent moment of a compositor's clock (Weston's is CLOCK_MONOTONIC_RAW where it draws nothing),
// on CLOCK_MONOTONIC.
uint64_t ToMonotonic(uint64_t at_ns, uint32_t clock) {
  if (clock == CLOCK_MONOTONIC) return at_ns;
  timespec now;
  if (clock_gettime(static_cast<clockid_t>(clock), &now) != 0) return at_ns;
  const uint64_t now_ns =
      static_cast<uint64_t>(now.tv_sec) * kNsPerSecond + static_cast<uint64_t>(now.tv_nsec);
  return at_ns + (MonotonicNs() - now_ns);  // modulo 2^64
}

}  // namespace
}  // namespace jankbox

using jankbox::FrameEvent;
using jankbox::FrameMonitor;
using jankbox::StateTags;
using jankbox::WatchedSlot;

extern "C" {

void jankbox_frame(uint64_t vsync_ns, uint64_t deadline_ns, uint64_t interval_ns, uint64_t start_ns,
                   uint64_t end_ns) {
  const jankbox::RingHeader* ring = jankbox::Recorder::ActiveRing();
  if (ring == nullptr) return;
  FrameMonitor::OnFrame(WatchedSlot::OfThisThread(ring), {.vsync_ns = vsync_ns,
                                                          .deadline_ns = deadline_ns,
                                                          .interval_ns = interval_ns,
                                                          .start_ns = start_ns,
                                                          .end_ns = end_ns});
}

void jankbox_frame_ex(const jankbox_frame_info* info) {
  const jankbox::RingHeader* ring = jankbox::Recorder::ActiveRing();
  FrameEvent frame;
  if (ring == nullptr || !jankbox::ToFrame(info, &frame)) return;
  FrameMonitor::OnFrame(WatchedSlot::OfThisThread(ring), frame);
}

void jankbox_frame_phase(uint32_t phase) {
  const jankbox::RingHeader* ring = jankbox::Recorder::ActiveRing();
  if (ring == nullptr || phase >= JANKBOX_PHASES) return;
  FrameMonitor::MarkPhase(WatchedSlot::OfThisThread(ring), static_cast<jankbox::FramePhase>(phase),
                          jankbox::MonotonicNs());
}

void jankbox_frame_presented(const jankbox_frame_info* info, const jankbox_presentation* given) {
  const jankbox::RingHeader* ring = jankbox::Recorder::ActiveRing();
  FrameEvent frame;
  if (ring == nullptr || given == nullptr || given->size < sizeof(jankbox_presentation) ||
      !jankbox::ToFrame(info, &frame)) {
    return;
  }
  FrameMonitor::OnPresented(
      WatchedSlot::OfThisThread(ring), frame,
      {.discarded = given->discarded != 0,
       .presented_ns =
           given->discarded != 0 ? 0 : jankbox::ToMonotonic(given->presented_ns, given->clock),
       .refresh_ns = given->refresh_ns,
       .sequence = given->sequence});
}

int jankbox_vsync_open(uint32_t hz) {
  if (hz != 0 && hz <= jankbox::kMaxHz) return jankbox::OpenVsyncTimer(jankbox::kNsPerSecond / hz);
  errno = EINVAL;
  return -1;
}

int jankbox_vsync_read(int descriptor, jankbox_frame_info* info) {
  FrameEvent frame;
  if (info == nullptr || info->size < sizeof(*info)) return 0;
  if (!jankbox::ReadVsyncTimer(descriptor, &frame)) return 0;
  const uint32_t size = info->size;
  memset(info, 0, sizeof(*info));
  info->size = size;
  info->flags = JANKBOX_FRAME_TIMER;
  info->vsync_id = static_cast<int64_t>(frame.vsync_id);
  info->vsync_ns = frame.vsync_ns;
  info->deadline_ns = frame.deadline_ns;
  info->interval_ns = frame.interval_ns;
  info->begin_ns = frame.start_ns;
  return 1;
}

int jankbox_set_state(const char* key, const char* value) {
  if (key == nullptr) return JANKBOX_INVALID_ARGUMENT;
  const uint64_t now_ns = jankbox::MonotonicNs();
  if (value == nullptr) {
    StateTags::Get().Remove(key, now_ns);
    return JANKBOX_OK;
  }
  return StateTags::Get().Set(key, value, now_ns) ? JANKBOX_OK : JANKBOX_INVALID_ARGUMENT;
}

void jankbox_remove_state(const char* key) {
  if (key != nullptr) StateTags::Get().Remove(key, jankbox::MonotonicNs());
}
}
