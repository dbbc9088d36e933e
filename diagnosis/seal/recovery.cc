#include "diagnosis/seal/recovery.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/phase_names.h"
#include "base/uuid.h"
#include "diagnosis/blame/blame.h"
#include "diagnosis/seal/report_builder.h"
#include "monitors/incident/verdict_timeline.h"
#include "monitors/incident/watched_thread_view.h"
#include "tracer/ring/process_identity.h"
#include "tracer/ring/ring_place.h"
#include "tracer/ring/word_text.h"

namespace jankbox {
namespace {

constexpr size_t kMaxRingFileBytes = (1u << 30) + (1u << 20);

RingEnd EndOf(const RingHeader& header) {
  return static_cast<RingEnd>(header.closed.load(std::memory_order_relaxed));
}

// The ring is an orphan only if its lock is free and it names no living process: forked children
// inherit the lock, closefrom() drops it. Nobody writes to one that was stopped.
bool IsOrphan(const RingHeader& header) {
  return EndOf(header) == RingEnd::kUnsealed ||
         !IsAlive({HeaderText(header.boot_id, sizeof(header.boot_id)), header.pid,
                   header.process_start_ticks});
}

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

TickConverter ConverterOf(const RingHeader& header, ClockReading* latest) {
  *latest = LatestReading(header);
  const auto source = static_cast<TickSource>(header.tick_source);
  // Died before its first calibration: this machine's counter still runs at the same rate.
  const bool calibrated = header.calibrated_ticks.load(std::memory_order_relaxed) != 0;
  const double fallback = calibrated ? 1.0 : MeasureNsPerTick(source, 10);
  return TickConverter(header.clock_at_start, *latest, fallback);
}

// The waits that the samples of the dead process saw, as readings of its thread.
VerdictTimeline ReadingsOfSamples(const std::vector<StackSample>& samples,
                                  const TickConverter& clock, uint64_t end_ns) {
  VerdictTimeline timeline;
  for (const StackSample& sample : samples) {
    ThreadReading reading;
    // A file's descriptor class was looked up while the process lived.
    const BlockedCall call{
        .state = sample.state, .number = sample.syscall, .fd_class = sample.fd_class};
    reading.wait = sample.running ? WaitReason::kNone : ClassifyWait(call);
    reading.syscall = sample.syscall;
    reading.fd_class = sample.fd_class;
    timeline.Add(clock.ToMonotonicNs(sample.time_ns), reading);
  }
  if (!samples.empty()) {
    ThreadReading last;
    last.wait = WaitReason::kUnknown;
    timeline.Add(end_ns, last);
  }
  return timeline;
}

std::string IdOf(const RingHeader& header, size_t index, uint64_t begin_ticks) {
  const uint64_t facts[4] = {static_cast<uint64_t>(header.pid), header.process_start_ticks, index,
                             begin_ticks};
  const XXH128_hash_t boot = XXH3_128bits(header.boot_id, sizeof(header.boot_id));
  const XXH128_hash_t hash = XXH3_128bits_withSeed(facts, sizeof(facts), boot.low64);
  const uint64_t seed[2] = {hash.low64, hash.high64};
  return DerivedUuid(header.clock_at_start.realtime_ns / kNsPerMs, seed);
}

struct DeadRing {
  RingReader reader;
  TickConverter clock;
  ClockReading latest;
  uint64_t end_ticks = 0;  // its last sign of life
};

// The incident in which the watched thread at `index` died, or that was sealed too late; false if
// there is nothing to say.
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
  } else if (stopped || running_since == 0 || DispatchNameText(thread.what) == kStartUpName) {
    return false;
  } else {
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

uint64_t LastSignOfLife(const RingReader& reader) {
  const RingHeader& header = reader.header();
  return std::max(header.heartbeat_ticks.load(std::memory_order_relaxed),
                  header.clock_at_start.ticks);
}

Status RecoverRing(DeadRing ring, Spool* spool, const AdmitReport& admit,
                   std::vector<std::string>* ids) {
  const RingHeader& header = ring.reader.header();
  for (size_t index = 0; index < kMaxWatchedThreads; ++index) {
    SealRequest request;
    if (header.watched[index].tid.load() == 0 || !FindUnsealed(ring, index, &request)) continue;
    ReportSource source;
    source.ring = &ring.reader;
    source.names = ring.reader.Names();
    source.modules = ModuleMap::Parse(ring.reader.ModulesText());
    source.clock = ring.clock;
    source.clock_reading = ring.latest;
    source.process = {header.pid, HeaderText(header.process_name, sizeof(header.process_name)), 0};
    source.app_name = HeaderText(header.app_name, sizeof(header.app_name));
    source.app_version = HeaderText(header.app_version, sizeof(header.app_version));
    source.window_ns = std::max(header.window_ns, kNsPerMs);
    source.end_ticks =
        std::min(ring.end_ticks, ring.clock.FromMonotonicNs(request.end_ns + kAfterIncidentNs));
    const std::vector<StackSample> samples =
        SamplesOf(ring.reader.CopyWindow(0, UINT64_MAX), request.tid);
    request.readings = ReadingsOfSamples(samples, ring.clock, request.end_ns);
    if (!samples.empty()) request.sampler = "ring";
    bool wanted = true;
    const auto ask = [&](const ReportedIncident& incident, Report* described) {
      return wanted = admit == nullptr || admit(incident, described);
    };
    Result<Report> report = SealReport(source, request, spool, ask);
    if (!wanted) continue;
    if (!report.ok()) return report.status();
    ids->push_back(request.id);
  }
  return Status::Ok();
}

// A ring whose process was killed before it had written the header: there is nothing in it. That
// one is named by the file. Until then the file may be in the making, without its lock.
bool DiedBeforeItsHeader(const std::string& path, const ScopedFd& ring) {
  const auto owner = OwnerOfRingFile(path.substr(path.rfind('/') + 1));
  alignas(RingHeader) char bytes[sizeof(RingHeader)] = {};
  const auto& header = *reinterpret_cast<const RingHeader*>(bytes);
  const bool whole = pread(ring.get(), bytes, sizeof(bytes), 0) == sizeof(bytes);
  const bool unfinished = whole && header.version == kRingVersion && header.ready.load() == 0;
  return (header.magic[0] == '\0' || unfinished) && owner.has_value() &&
         ProcessStartTicks(owner->first) != owner->second;
}

// Recovers the ring at `path` if it is an orphan, and removes it.
Status RecoverFile(const std::string& path, Spool* spool, const AdmitReport& admit,
                   std::vector<std::string>* ids) {
  Result<ScopedFd> fd = OpenRegularFile(path);
  if (!fd.ok()) return fd.status();
  if (flock(fd->get(), LOCK_EX | LOCK_NB) != 0)
    return Status::Ok();  // alive, or another tool recovers it
  Result<std::string> bytes = ReadFile(path, kMaxRingFileBytes);
  if (!bytes.ok()) return bytes.status();
  Result<RingReader> reader = RingReader::FromBytes(bytes.value());
  if (!reader.ok()) {
    if (DiedBeforeItsHeader(path, fd.value())) {
      unlink(path.c_str());
      return Status::Ok();
    }
    // Perhaps its process is just filling the header: only old files are renamed.
    struct stat st {};
    if (fstat(fd->get(), &st) != 0 ||
        RealtimeNs() / kNsPerSecond < static_cast<uint64_t>(st.st_mtime) + 60) {
      return Status::Ok();
    }
    rename(path.c_str(), (path + ".corrupt").c_str());
    return reader.status();
  }
  if (!IsOrphan(reader->header())) return Status::Ok();
  DeadRing ring{std::move(reader.value()), {}, {}, 0};
  ring.clock = ConverterOf(ring.reader.header(), &ring.latest);
  ring.end_ticks = LastSignOfLife(ring.reader);
  if (EndOf(ring.reader.header()) != RingEnd::kClosed) {
    Status status = RecoverRing(std::move(ring), spool, admit, ids);
    if (!status.ok()) return status;
  }
  unlink(path.c_str());
  return Status::Ok();
}

bool EndsWith(const std::string& text, const std::string& suffix) {
  return text.size() >= suffix.size() &&
         text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

// What a look at a ring of an unknown process says.
struct FoundRing {
  bool living = false;
  bool empty = false;  // its process is dead and had written nothing
  std::string reports_folder;
  uint64_t bytes = 0;
  uint64_t last_sign_ns = 0;  // CLOCK_REALTIME
};

bool LookAt(const std::string& path, FoundRing* found) {
  Result<ScopedFd> fd = OpenRegularFile(path);
  struct stat st {};
  if (!fd.ok() || fstat(fd->get(), &st) != 0) return false;
  found->bytes = static_cast<uint64_t>(st.st_blocks) * 512;
  found->last_sign_ns = static_cast<uint64_t>(st.st_mtime) * kNsPerSecond;
  found->living = flock(fd->get(), LOCK_EX | LOCK_NB) != 0;
  found->empty = !found->living && DiedBeforeItsHeader(path, fd.value());
  alignas(RingHeader) char bytes[sizeof(RingHeader)];
  const auto& header = *reinterpret_cast<const RingHeader*>(bytes);
  if (found->living || pread(fd->get(), bytes, sizeof(bytes), 0) != sizeof(bytes) ||
      !RingReader::IsOurs(header)) {
    return true;
  }
  found->living = !IsOrphan(header);
  found->reports_folder = HeaderText(header.reports_folder, sizeof(header.reports_folder));
  found->last_sign_ns = std::max(found->last_sign_ns, LatestReading(header).realtime_ns);
  return true;
}

void CollectRing(const std::string& path, CollectedRings* collected) {
  FoundRing found;
  if (!LookAt(path, &found)) return;
  if (found.living) {
    ++collected->living;
    return;
  }
  if (found.empty && unlink(path.c_str()) == 0) {
    collected->bytes += found.bytes;
    ++collected->removed;
    return;
  }
  const std::string& folder = found.reports_folder;
  struct stat st {};
  if (folder.starts_with('/') && stat(folder.c_str(), &st) == 0 && S_ISDIR(st.st_mode)) {
    Result<Spool> spool = Spool::Open(folder, SpoolLimits{});
    const size_t before = collected->reports.size();
    if (spool.ok()) (void)RecoverFile(path, &spool.value(), {}, &collected->reports).ok();
    if (access(path.c_str(), F_OK) != 0) {
      collected->bytes += found.bytes;
      for (size_t i = before; i < collected->reports.size(); ++i) {
        collected->reports[i] = ReportPath(folder, collected->reports[i]);
      }
      if (before == collected->reports.size()) ++collected->removed;
      return;
    }
  }
  const bool old = RealtimeNs() > found.last_sign_ns + kMaxDeadRingAgeNs;
  if (!old || unlink(path.c_str()) != 0) {
    ++collected->kept;
    return;
  }
  collected->bytes += found.bytes;
  ++collected->dropped;
}

}  // namespace

CollectedRings CollectDeadRings() {
  CollectedRings collected;
  for (const std::string& folder : RingFolders()) {
    const Result<std::vector<std::string>> names = ListDirectory(folder);
    if (!names.ok()) continue;
    for (const std::string& name : names.value()) CollectRing(JoinPath(folder, name), &collected);
    rmdir(folder.c_str());  // succeeds only if no ring is left
  }
  return collected;
}

Result<std::vector<std::string>> RecoverOrphanRings(const std::string& spool_dir, Spool* spool,
                                                    const AdmitReport& admit) {
  Result<std::string> folder = RingFolder(spool_dir);
  if (!folder.ok()) return folder.status();
  Result<std::vector<std::string>> names = ListDirectory(folder.value());
  if (!names.ok()) return names.status();
  std::vector<std::string> ids;
  Status first_error = Status::Ok();
  for (const std::string& name : names.value()) {
    if (!EndsWith(name, kRingFileSuffix)) continue;
    Status status = RecoverFile(JoinPath(folder.value(), name), spool, admit, &ids);
    if (!status.ok()) {
      LogWarning("ring " + name + ": " + status.message());
      if (first_error.ok()) first_error = status;
    }
  }
  rmdir(folder->c_str());  // succeeds only if no ring is left
  if (ids.empty() && !first_error.ok()) return first_error;
  return ids;
}

Result<std::vector<std::string>> RecoverOrphanRings(const std::string& spool_dir) {
  Result<Spool> spool = Spool::Open(spool_dir, SpoolLimits{});
  if (!spool.ok()) return spool.status();
  return RecoverOrphanRings(spool_dir, &spool.value());
}

}  // namespace jankbox
