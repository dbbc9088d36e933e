// The functions that write events: monitors, the C surface and compile-time instrumentation call
// them on the app's threads. Every function is HOT: THREAD-SAFE, SIGNAL-SAFE, NO-ALLOC, no lock, no
// system call but for a thread's first event; a no-op while recording is off and in a forked child.
// Implemented by tracer/ring/recorder.cc.
#ifndef JANKBOX_TRACER_EVENT_EVENT_SINK_H_
#define JANKBOX_TRACER_EVENT_EVENT_SINK_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "tracer/event/event.h"

namespace jankbox {

// One relaxed load: false while recording is off.
bool RecordingOn();

// Now, in the ring's clock. Meaningful only while recording is on.
uint64_t NowTicks();

// kBegin, kEnd, kInstant, kDispatchEnd: no payload.
void RecordEvent(EventKind kind, uint32_t id);

// As above with an earlier moment `ticks`, which is moved up to the thread's last event's chunk if
// it is before it.
void RecordEventAt(EventKind kind, uint32_t id, uint64_t ticks, std::span<const uint64_t> payload);

// kAsyncBegin, kAsyncEnd, kCounter: a 64-bit value.
void RecordValue(EventKind kind, uint32_t id, uint64_t value);

// kMarker, kWait, kThread: into the thread's marker lane, whose chunks are a share of their own.
void RecordAside(EventKind kind, uint32_t id, std::span<const uint64_t> payload);

// A marker's text as the process wrote it; cut at kMaxMarkerBytes. False if it is not in the
// ring: recording is off, or there is no room, which is counted.
bool RecordMarker(std::string_view text);

// This thread's chunks come from the share that floods of other threads cannot evict.
void WatchThisThread();
bool ThisThreadIsWatched();

}  // namespace jankbox

#endif  // JANKBOX_TRACER_EVENT_EVENT_SINK_H_
