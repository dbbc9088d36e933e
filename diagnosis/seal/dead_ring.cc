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

// The same moment read through two calibrations of the clock.
constexpr uint64_t kSameMomentNs = 2 * kNsPerMs;
bool SameMoment(uint64_t a, uint64_t b) { return std::max(a, b) - std::min(a, b) <= kSameMomentNs; }

bool Has(const DeadIncidents& found, const std::string& id) {
  return std::any_of(found.each.begin(), found.each.end(),
                     [&](const DeadIncident& incident) { return incident.request.id == id; });
}

ReportKind KindOf(uint32_t number, ReportKind otherwise) {
  const auto kind = static_cast<ReportKind>(number);
  return ReportKindName(kind).empty() ? otherwise : kind;
}

const char* NoteOfLateReport(const RingHeader& header) {
  return EndOf(header) == RingEnd::kUnsealed
             ? "Jankbox was stopped before this report was written. It was recovered from the ring."
             : "The process died before this report was written. It was recovered from the ring.";
}

// One that waited for the sealing thread.
SealRequest RequestOf(const DeadRing& ring, const UncountedIncident& incident) {
  const RingHeader& header = ring.reader.header();
  SealRequest request;
  request.id = incident.id;
  request.kind = KindOf(incident.kind, ReportKind::kRecovered);
  request.begin_ns = std::min(incident.begin_ns, incident.end_ns);
  request.end_ns = incident.end_ns;
  const uint64_t whole_ns = request.end_ns - request.begin_ns;
  request.held_ns = whole_ns - std::min(whole_ns, incident.total_ns);
  request.what = incident.what;
  request.tid = incident.tid;
  request.watched_index = kMaxWatchedThreads;
  request.notes.push_back(NoteOfLateReport(header));
  return request;
}

// The notes that a dead process left about one watched thread.
class SlotOfDead {
 public:
  SlotOfDead(const DeadRing& ring, size_t index)
      : ring_(ring),
        header_(ring.reader.header()),
        index_(index),
        thread_(header_.watched[index]),
        note_(header_.incidents[index]),
        state_(static_cast<RingIncidentState>(note_.state.load(std::memory_order_acquire))) {}

  // The incident that was over and not sealed.
  void AddNoted(DeadIncidents* found) const {
    if (state_ != RingIncidentState::kFinished) return;
    SealRequest request = NewRequest(note_.begin_ticks.load(std::memory_order_relaxed),
                                     note_.end_ticks.load(std::memory_order_relaxed));
    TakeNote(&request);
    request.what = DispatchNameText(thread_.slow_what);
    request.notes.push_back(NoteOfLateReport(header_));
    found->each.push_back({std::move(request)});
  }

  // The dispatch that ended as slow before the watcher saw it, and those before it.
  void AddUnseen(const std::vector<UncountedIncident>& uncounted, DeadIncidents* found) const {
    const uint32_t version = thread_.slow_version.load(std::memory_order_acquire);
    const uint32_t seen = thread_.slow_seen_version.load(std::memory_order_acquire);
    if (header_.keeps_seen == 0 || version % 2 != 0 || version == seen) return;
    const uint64_t begin_ticks = thread_.slow_begin_ticks.load(std::memory_order_relaxed);
    const uint64_t end_ticks = thread_.slow_end_ticks.load(std::memory_order_relaxed);
    AddMissed((version - seen) / 2 - 1, end_ticks - begin_ticks, found);
    SealRequest request = NewRequest(begin_ticks, end_ticks);
    const int32_t tid = request.tid;
    // Killed after it was noted, and before that was. An incident that the app reported itself is
    // another one, whenever it began.
    const bool noted = (state_ == RingIncidentState::kFinished && IsNotedAt(begin_ticks)) ||
                       std::any_of(uncounted.begin(), uncounted.end(), [&](const auto& waits) {
                         return waits.tid == tid &&
                                waits.kind != static_cast<uint32_t>(ReportKind::kCustom) &&
                                SameMoment(waits.begin_ns, request.begin_ns);
                       });
    if (noted) return;
    request.kind = ReportKind::kSlowMessage;
    if (state_ == RingIncidentState::kGrowing && IsNotedAt(begin_ticks)) TakeNote(&request);
    request.what = DispatchNameText(thread_.slow_what);
    request.notes.push_back(NoteOfLateReport(header_));
    found->each.push_back({std::move(request)});
  }

  // The dispatch in which the process died.
  void AddRunning(DeadIncidents* found) const {
    const uint64_t begin_ticks = thread_.dispatch_begin_ticks.load(std::memory_order_relaxed);
    if (EndOf(header_) != RingEnd::kNone || begin_ticks == 0 ||
        DispatchNameText(thread_.what) == kStartUpName) {
      return;
    }
    const bool growing = state_ == RingIncidentState::kGrowing && IsNotedAt(begin_ticks);
    SealRequest request = NewRequest(begin_ticks, ring_.end_ticks);
    const uint64_t slow_ns = header_.slow_threshold_ns.load(std::memory_order_relaxed);
    if (request.end_ns - request.begin_ns < slow_ns && !growing) return;
    if (growing) {
      TakeNote(&request);
      // What was an ANR already stays one; what was not sealed yet is known by its end.
      if (request.revision == 1) request.kind = ReportKind::kRecovered;
    }
    request.what = DispatchNameText(thread_.what);
    request.end = ring_.end;
    request.notes.push_back(
        "The process died while this thread was blocked. The duration ends at the last sign of "
        "life.");
    found->each.push_back({std::move(request)});
  }

 private:
  SealRequest NewRequest(uint64_t begin_ticks, uint64_t end_ticks) const {
    SealRequest request;
    request.id = IdOf(header_, index_, begin_ticks);
    request.kind = ReportKind::kRecovered;
    request.begin_ns = ring_.clock.ToMonotonicNs(begin_ticks);
    request.end_ns = std::max(ring_.clock.ToMonotonicNs(end_ticks), request.begin_ns);
    request.tid = thread_.tid.load(std::memory_order_relaxed);
    request.watched_index = index_;
    request.loop = LoopNameOf(header_, index_);
    return request;
  }

  bool IsNotedAt(uint64_t begin_ticks) const {
    return SameMoment(ring_.clock.ToMonotonicNs(note_.begin_ticks.load(std::memory_order_relaxed)),
                      ring_.clock.ToMonotonicNs(begin_ticks));
  }

  // Its id, kind and revision.
  void TakeNote(SealRequest* request) const {
    request->kind = KindOf(note_.kind.load(std::memory_order_relaxed), request->kind);
    const std::string id = ReadWordText(note_.id);
    if (!IsUuid(id)) return;
    request->id = id;
    request->revision = note_.sealed_revision.load(std::memory_order_relaxed) + 1;
  }

  void AddMissed(uint32_t missed, uint64_t own_ticks, DeadIncidents* found) const {
    if (missed == 0) return;
    const uint64_t seen_ticks = thread_.slow_seen_ticks.load(std::memory_order_relaxed);
    const uint64_t ticks = thread_.slow_total_ticks.load(std::memory_order_relaxed);
    const uint64_t others = ticks - std::min(ticks, seen_ticks + own_ticks);
    UncountedIncident together;
    together.id = IdOf(header_, kMaxWatchedThreads + 1 + index_, ticks);
    together.kind = static_cast<uint32_t>(ReportKind::kSlowMessage);
    together.incidents = missed;
    together.total_ns =
        static_cast<uint64_t>(static_cast<double>(others) * ring_.clock.ns_per_tick());
    together.max_ns = together.total_ns / missed;
    found->together.push_back(std::move(together));
  }

  const DeadRing& ring_;
  const RingHeader& header_;
  const size_t index_;
  const RingWatchedThread& thread_;
  const RingIncident& note_;
  const RingIncidentState state_;
};

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

DeadIncidents FindIncidents(const DeadRing& ring) {
  const RingHeader& header = ring.reader.header();
  const std::vector<UncountedIncident> uncounted = UncountedIncidents::Of(header);
  DeadIncidents found;
  for (size_t index = 0; index < kMaxWatchedThreads; ++index) {
    if (header.watched[index].tid.load(std::memory_order_relaxed) == 0) continue;
    const SlotOfDead slot(ring, index);
    slot.AddNoted(&found);
    slot.AddUnseen(uncounted, &found);
    slot.AddRunning(&found);
  }
  for (const UncountedIncident& incident : uncounted) {
    if (incident.incidents != 1 || incident.end_ns == 0) {
      found.together.push_back(incident);
    } else if (!Has(found, incident.id)) {
      found.each.push_back({RequestOf(ring, incident), false});
    }
  }
  return found;
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
