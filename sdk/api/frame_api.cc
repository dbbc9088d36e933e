// The C API of jankbox/frames.h: thin, never throws.
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>

#include "base/clock.h"
#include "jankbox/frames.h"
#include "monitors/frame/frame_monitor.h"
#include "monitors/frame/state_tags.h"
#include "monitors/frame/vsync_timer.h"
#include "sdk/api/status_code.h"
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

// False if `given` is none. Fields that an older program does not have are 0.
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

// A recent moment of a compositor's clock (Weston's is CLOCK_MONOTONIC_RAW if it draws nothing),
// on CLOCK_MONOTONIC.
uint64_t ToMonotonic(uint64_t at_ns, uint32_t clock) {
  if (clock == CLOCK_MONOTONIC) return at_ns;
  timespec now;
  if (clock_gettime(static_cast<clockid_t>(clock), &now) != 0) return at_ns;
  const uint64_t now_ns =
      static_cast<uint64_t>(now.tv_sec) * kNsPerSecond + static_cast<uint64_t>(now.tv_nsec);
  return at_ns + (MonotonicNs() - now_ns);  // modulo 2^64
}

Presentation ToPresentation(const jankbox_presentation& given) {
  const bool discarded = given.discarded != 0;
  return {.discarded = discarded,
          .presented_ns = discarded ? 0 : ToMonotonic(given.presented_ns, given.clock),
          .refresh_ns = given.refresh_ns,
          .sequence = given.sequence};
}

}  // namespace
}  // namespace jankbox

using jankbox::FrameEvent;
using jankbox::FrameMonitor;
using jankbox::StateTags;
using jankbox::StatusCode;
using jankbox::ToApiStatus;
using jankbox::WatchedSlot;

extern "C" {

void jankbox_frame(uint64_t vsync_ns, uint64_t deadline_ns, uint64_t interval_ns, uint64_t begin_ns,
                   uint64_t end_ns) {
  const jankbox::RingHeader* ring = jankbox::Recorder::ActiveRing();
  if (ring == nullptr) return;
  FrameMonitor::OnFrame(WatchedSlot::OfThisThread(ring), {.vsync_ns = vsync_ns,
                                                          .deadline_ns = deadline_ns,
                                                          .interval_ns = interval_ns,
                                                          .start_ns = begin_ns,
                                                          .end_ns = end_ns});
}

void jankbox_frame_ex(const jankbox_frame_info* info, const jankbox_presentation* presentation) {
  const jankbox::RingHeader* ring = jankbox::Recorder::ActiveRing();
  FrameEvent frame;
  if (ring == nullptr || !jankbox::ToFrame(info, &frame)) return;
  const WatchedSlot slot = WatchedSlot::OfThisThread(ring);
  if (presentation == nullptr) return FrameMonitor::OnFrame(slot, frame);
  if (presentation->size < sizeof(*presentation)) return;
  FrameMonitor::OnPresented(slot, frame, jankbox::ToPresentation(*presentation));
}

void jankbox_frame_phase(uint32_t phase) {
  const jankbox::RingHeader* ring = jankbox::Recorder::ActiveRing();
  if (ring == nullptr || phase >= JANKBOX_PHASES) return;
  FrameMonitor::MarkPhase(WatchedSlot::OfThisThread(ring), static_cast<jankbox::FramePhase>(phase),
                          jankbox::MonotonicNs());
}

jankbox_status jankbox_vsync_open(uint32_t hz, int* descriptor) {
  if (hz == 0 || hz > jankbox::kMaxHz || descriptor == nullptr) {
    return ToApiStatus({StatusCode::kInvalidArgument, "a vsync has a rate of 1 to 1000 Hz"});
  }
  *descriptor = jankbox::OpenVsyncTimer(jankbox::kNsPerSecond / hz);
  if (*descriptor >= 0) return JANKBOX_OK;
  return ToApiStatus(jankbox::Status::FromErrno(errno, "timerfd"));
}

jankbox_status jankbox_vsync_read(int descriptor, jankbox_frame_info* info) {
  if (info == nullptr || info->size < sizeof(*info)) {
    return ToApiStatus(
        {StatusCode::kInvalidArgument, "the size of a jankbox_frame_info is not set"});
  }
  FrameEvent frame;
  if (!jankbox::ReadVsyncTimer(descriptor, &frame)) return JANKBOX_WOULD_BLOCK;
  const uint32_t size = info->size;
  memset(info, 0, sizeof(*info));
  info->size = size;
  info->flags = JANKBOX_FRAME_TIMER;
  info->vsync_id = static_cast<int64_t>(frame.vsync_id);
  info->vsync_ns = frame.vsync_ns;
  info->deadline_ns = frame.deadline_ns;
  info->interval_ns = frame.interval_ns;
  info->begin_ns = frame.start_ns;
  return JANKBOX_OK;
}

jankbox_status jankbox_set_state(const char* key, const char* value) {
  if (key == nullptr || *key == '\0') {
    return ToApiStatus({StatusCode::kInvalidArgument, "a state needs a key"});
  }
  const uint64_t now_ns = jankbox::MonotonicNs();
  if (value == nullptr) {
    StateTags::Get().Remove(key, now_ns);
  } else if (!StateTags::Get().Set(key, value, now_ns)) {
    return ToApiStatus({StatusCode::kNoSpace, "32 states are set already"});
  }
  return JANKBOX_OK;
}
}
