#include "diagnosis/seal/dead_ring.h"

#include <xxhash.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/phase_names.h"
#include "base/uuid.h"
#include "monitors/incident/watched_thread_view.h"
#include "tracer/ring/word_text.h"

namespace jankbox {
namespace {

TickConverter ConverterOf(const RingHeader& header, const ClockReading& latest) {
  const auto source = static_cast<TickSource>(header.tick_source);
  // Died before its first calibration: this machine's counter still runs at the same rate.
  const bool calibrated = header.calibrated_ticks.load(std::memory_order_relaxed) != 0;
  const double fallback = calibrated ? 1.0 : MeasureNsPerTick(source, 10);
  return TickConverter(header.clock_at_start, latest, fallback);
}

std::string IdOf(const RingHeader& header, size_t index, uint64_t begin_ticks) {
  const uint64_t facts[4] = {static_cast<uint64_t>(header.pid), header.process_start_ticks, index,
                             begin_ticks};
  const XXH128_hash_t boot = XXH3_128bits(header.boot_id, sizeof(header.boot_id));
  const XXH128_hash_t hash = XXH3_128bits_withSeed(facts, sizeof(facts), boot.low64);
  const uint64_t seed[2] = {hash.low64, hash.high64};
  return DerivedUuid(header.clock_at_start.realtime_ns / kNsPerMs, seed);
}

uint64_t LastSignOfLife(const RingReader& reader) {
  const RingHeader& header = reader.header();
  return std::max(header.heartbeat_ticks.load(std::memory_order_relaxed),
                  header.clock_at_start.ticks);
}

// The last event of any thread: the watcher, whose polls are the other signs of life, looks less
// often.
uint64_t LastEventTicks(const RingReader& reader) {
  uint64_t last = 0;
  for (const WindowThread& thread : reader.CopyWindow(0, UINT64_MAX).threads) {
    for (const WindowChunk& chunk : thread.chunks) {
      EventCursor cursor(chunk);
      EventRecord record;
      while (cursor.Next(&record)) last = std::max(last, record.ticks);
    }
  }
  return last;
}

}  // namespace

ClockReading LatestReading(const RingHeader& header) {
  ClockReading latest = header.clock_at_start;
  const uint64_t ticks = header.calibrated_ticks.load(std::memory_order_relaxed);
  if (ticks == 0) return latest;
  latest.ticks = ticks;
  latest.monotonic_ns = header.calibrated_monotonic_ns.load(std::memory_order_relaxed);
  const uint64_t later_ns = latest.monotonic_ns - header.clock_at_start.monotonic_ns;
  latest.boottime_ns += later_ns;
  latest.realtime_ns += later_ns;
  return latest;
}

DeadRing::DeadRing(RingReader&& ring)
    : reader(std::move(ring)),
      latest(LatestReading(reader.header())),
      clock(ConverterOf(reader.header(), latest)),
      end_ticks(LastSignOfLife(reader)) {}

bool FindUnsealed(const DeadRing& ring, size_t index, SealRequest* request) {
  const RingHeader& header = ring.reader.header();
  const RingWatchedThread& thread = header.watched[index];
  const RingIncident& incident = header.incidents[index];
  const auto state = static_cast<RingIncidentState>(incident.state.load(std::memory_order_acquire));
  const bool stopped = EndOf(header) == RingEnd::kUnsealed;
  const uint64_t running_since = thread.dispatch_begin_ticks.load(std::memory_order_relaxed);
  uint64_t begin_ticks = running_since;
  uint64_t end_ticks = ring.end_ticks;
  request->kind = ReportKind::kRecovered;
  if (state == RingIncidentState::kFinished) {
    begin_ticks = incident.begin_ticks.load(std::memory_order_relaxed);
    end_ticks = incident.end_ticks.load(std::memory_order_relaxed);
    const auto kind = static_cast<ReportKind>(incident.kind.load(std::memory_order_relaxed));
    if (!ReportKindName(kind).empty()) request->kind = kind;
    request->notes.push_back(stopped ? "Jankbox was stopped before this report was written. It was "
                                       "recovered from the ring."
                                     : "The process died before this report was written. It was "
                                       "recovered from the ring.");
  } else if (EndOf(header) != RingEnd::kNone || running_since == 0 ||
             DispatchNameText(thread.what) == kStartUpName) {
    return false;
  } else {
    // What was an ANR already stays one.
    const bool sealed = state == RingIncidentState::kGrowing &&
                        incident.sealed_revision.load(std::memory_order_relaxed) != 0;
    const auto kind = static_cast<ReportKind>(incident.kind.load(std::memory_order_relaxed));
    if (sealed && !ReportKindName(kind).empty()) request->kind = kind;
    request->end = ring.end;
    request->notes.push_back(
        "The process died while this thread was blocked. The duration ends at the last sign of "
        "life.");
  }
  request->begin_ns = ring.clock.ToMonotonicNs(begin_ticks);
  request->end_ns = std::max(ring.clock.ToMonotonicNs(end_ticks), request->begin_ns);
  if (request->end_ns - request->begin_ns <
          header.slow_threshold_ns.load(std::memory_order_relaxed) &&
      state == RingIncidentState::kNone)
    return false;
  const std::string id = ReadWordText(incident.id);
  const bool named = state != RingIncidentState::kNone && IsUuid(id);
  request->id = named ? id : IdOf(header, index, begin_ticks);
  request->revision = named ? incident.sealed_revision.load(std::memory_order_relaxed) + 1 : 1;
  request->tid = thread.tid.load(std::memory_order_relaxed);
  request->what =
      DispatchNameText(state == RingIncidentState::kFinished ? thread.slow_what : thread.what);
  request->watched_index = index;
  request->loop = LoopNameOf(header, index);
  return true;
}

bool FindExit(const DeadRing& ring, SealRequest* request) {
  const RingHeader& header = ring.reader.header();
  const uint64_t end_ticks = std::max(ring.end_ticks, LastEventTicks(ring.reader));
  for (size_t index = 0; index < kMaxWatchedThreads; ++index) {
    const RingWatchedThread& thread = header.watched[index];
    const uint64_t begin_ticks = thread.dispatch_begin_ticks.load(std::memory_order_relaxed);
    const bool running = begin_ticks != 0;
    if (thread.tid.load() == 0 || thread.dispatch_count.load(std::memory_order_relaxed) == 0 ||
        DispatchNameText(thread.what) == kStartUpName) {
      continue;
    }
    request->id = IdOf(header, kMaxWatchedThreads, header.clock_at_start.ticks);
    request->kind = ReportKind::kExit;
    request->tid = thread.tid.load(std::memory_order_relaxed);
    request->watched_index = index;
    request->loop = LoopNameOf(header, index);
    request->end_ns = ring.clock.ToMonotonicNs(end_ticks);
    request->begin_ns = request->end_ns;
    if (running) {
      request->what = DispatchNameText(thread.what);
      request->begin_ns = std::min(ring.clock.ToMonotonicNs(begin_ticks), request->end_ns);
    }
    return true;
  }
  return false;
}

}  // namespace jankbox
