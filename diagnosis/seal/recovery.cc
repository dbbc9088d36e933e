#include "diagnosis/seal/recovery.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "diagnosis/blame/blame.h"
#include "diagnosis/seal/count_report.h"
#include "diagnosis/seal/dead_ring.h"
#include "diagnosis/seal/end_book.h"
#include "diagnosis/seal/report_builder.h"
#include "diagnosis/seal/report_identity.h"
#include "diagnosis/seal/start_history.h"
#include "monitors/incident/verdict_timeline.h"
#include "tracer/ring/process_identity.h"
#include "tracer/ring/ring_place.h"

namespace jankbox {
namespace {

constexpr size_t kMaxRingFileBytes = (1u << 30) + (1u << 20);

// The ring is an orphan only if its lock is free and it names no living process: forked children
// inherit the lock, closefrom() drops it. Nobody writes to one that was stopped.
bool IsOrphan(const RingHeader& header) {
  return EndOf(header) == RingEnd::kUnsealed || !IsAlive(RecorderOf(header));
}

// True if another process, which is the parent of the dead one and lives, knows how that ended.
bool IsLeftToParent(const RingHeader& header) {
  return header.parent_pid != 0 && header.parent_pid != getpid() &&
         ProcessStartTicks(header.parent_pid) == header.parent_start_ticks;
}

// The same before the ring is locked: the parent takes a locked one for one of a living process.
bool IsLeftToParent(const ScopedFd& ring) {
  alignas(RingHeader) char bytes[sizeof(RingHeader)];
  const auto& header = *reinterpret_cast<const RingHeader*>(bytes);
  return pread(ring.get(), bytes, sizeof(bytes), 0) == sizeof(bytes) &&
         RingReader::IsOurs(header) && IsLeftToParent(header);
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

// What the reports of a folder's rings share.
struct Recovery {
  Spool* spool;
  CountBook* counts;
  const AdmitReport& admit;
  const std::optional<ChildEnd>& child;
  std::vector<std::string>* ids;
};

std::string AppVersionOf(const RingHeader& header) {
  return HeaderText(header.app_version, sizeof(header.app_version));
}

ReportSource SourceOf(const DeadRing& ring) {
  const RingHeader& header = ring.reader.header();
  ReportSource source;
  source.ring = &ring.reader;
  source.names = ring.reader.Names();
  source.modules = ModuleMap::Parse(ring.reader.ModulesText());
  source.clock = ring.clock;
  source.clock_reading = ring.latest;
  source.process = {header.pid, HeaderText(header.process_name, sizeof(header.process_name)), 0};
  source.app_name = HeaderText(header.app_name, sizeof(header.app_name));
  source.app_version = AppVersionOf(header);
  source.window_ns = std::max(header.window_ns, kNsPerMs);
  return source;
}

// Counts the incident of `request`, and writes its report if it is to have one.
Status SealRequestOf(const DeadRing& ring, SealRequest request, bool with_report,
                     const Recovery& recovery) {
  ReportSource source = SourceOf(ring);
  const uint64_t after_ticks = ring.clock.FromMonotonicNs(request.end_ns + kAfterIncidentNs);
  source.end_ticks =
      request.kind == ReportKind::kExit ? after_ticks : std::min(ring.end_ticks, after_ticks);
  const std::vector<StackSample> samples =
      SamplesOf(ring.reader.CopyWindow(0, UINT64_MAX), request.tid);
  request.readings = ReadingsOfSamples(samples, ring.clock, request.end_ns);
  request.background = ring.reader.header().foreground.load(std::memory_order_relaxed) ==
                       static_cast<uint32_t>(RingForeground::kBackground);
  if (!samples.empty()) request.sampler = "ring";
  bool wanted = true;
  const auto ask = [&](const ReportedIncident& incident, Report* described) {
    CountReport(described, recovery.counts);
    wanted = with_report && (recovery.admit == nullptr || recovery.admit(incident, described));
    return wanted;
  };
  Result<Report> report = SealReport(source, request, recovery.spool, ask);
  if (!wanted) return Status::Ok();
  if (!report.ok()) return report.status();
  recovery.ids->push_back(request.id);
  return Status::Ok();
}

// An end that has no report because the day had enough of them. Its key needs no look at the ring.
void CountEndOnly(const DeadRing& ring, const SealRequest& request, const Recovery& recovery) {
  const ReportSource source = SourceOf(ring);
  Report report;
  report.id = request.id;
  report.kind = request.kind;
  report.what = request.what;
  report.process = source.process.name;
  report.app_name = source.app_name;
  report.app_version = source.app_version;
  report.duration_ns = request.end_ns - request.begin_ns;
  SetIdentity(Blame(), request.end.reason.c_str(), &report);
  CountReport(&report, recovery.counts);
}

// Of a ring that was not closed: counts the end, and writes its report unless another one of the
// same end has its reason, or none is due.
Status RecoverEnd(const DeadRing& ring, bool told, const Recovery& recovery) {
  SealRequest request;
  if (!FindExit(ring, &request)) return Status::Ok();
  request.end = ring.end;
  bool asked = false;
  SealEnd seal = [&](const std::vector<ReportEndCount>& counts) {
    asked = true;
    request.ends = counts;
    const size_t before = recovery.ids->size();
    const Status status = SealRequestOf(ring, request, true, recovery);
    const bool refused = status.ok() && recovery.ids->size() == before;
    return refused ? Status(StatusCode::kUnavailable, "a listener refused the report") : status;
  };
  const bool due = !told && !ring.end.expected;
  if (!due) seal = nullptr;
  const Status status =
      CountEnd(recovery.spool->directory(), KernelInstant(), ring.end.reason, seal);
  if (due && !asked) CountEndOnly(ring, request, recovery);
  return status;
}

Status RecoverRing(DeadRing ring, const Recovery& recovery) {
  const RingHeader& header = ring.reader.header();
  // What was recorded from outside says nothing about the process' end.
  const bool from_inside = header.foreground.load(std::memory_order_relaxed) != 0;
  const bool unclean = EndOf(header) == RingEnd::kNone && from_inside;
  if (unclean) {
    ring.end = JudgeEnd(header, FactsOfEnd(header, ring.clock, recovery.child));
  }
  const ProcessUsage usage = UsageOfRing(header);
  if (!usage.id.empty()) recovery.counts->CountEndedUsage(usage);
  DeadIncidents incidents = FindIncidents(ring);
  for (const UncountedIncident& together : incidents.together) {
    CountTogether(together, AppVersionOf(header), recovery.counts);
  }
  bool told = false;
  for (DeadIncident& incident : incidents.each) {
    told = told || !incident.request.end.reason.empty();
    const Status status =
        SealRequestOf(ring, std::move(incident.request), incident.with_report, recovery);
    if (!status.ok()) return status;
  }
  return unclean ? RecoverEnd(ring, told, recovery) : Status::Ok();
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
Status RecoverFile(const std::string& path, const Recovery& recovery) {
  Result<ScopedFd> fd = OpenRegularFile(path);
  if (!fd.ok()) return fd.status();
  if (IsLeftToParent(fd.value()) || flock(fd->get(), LOCK_EX | LOCK_NB) != 0)
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
  // While its ring can still tell.
  if (!MayHaveDiedOfHooks(reader->header())) {
    ForgiveStart(recovery.spool->directory(), reader->header().pid);
  }
  DeadRing ring(std::move(reader.value()));
  if (EndOf(ring.reader.header()) != RingEnd::kClosed) {
    const Status status = RecoverRing(std::move(ring), recovery);
    if (!status.ok()) {
      recovery.counts->Keep();  // the ring still has it
      return status;
    }
  }
  unlink(path.c_str());
  recovery.counts->Settle();
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
  found->living = IsLeftToParent(fd.value()) || flock(fd->get(), LOCK_EX | LOCK_NB) != 0;
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
    CountBook counts(folder);
    if (spool.ok()) {
      (void)RecoverFile(path, {&spool.value(), &counts, {}, {}, &collected->reports}).ok();
      (void)counts.Close().ok();
    }
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

bool IsSet(const std::atomic<bool>* flag) {
  return flag != nullptr && flag->load(std::memory_order_relaxed);
}

}  // namespace

CollectedRings CollectDeadRings(const std::atomic<bool>* stopping) {
  CollectedRings collected;
  for (const std::string& folder : RingFolders()) {
    const Result<std::vector<std::string>> names = ListDirectory(folder);
    if (!names.ok()) continue;
    for (const std::string& name : names.value()) {
      if (IsSet(stopping)) return collected;
      CollectRing(JoinPath(folder, name), &collected);
    }
    rmdir(folder.c_str());  // succeeds only if no ring is left
  }
  return collected;
}

Result<std::vector<std::string>> RecoverOrphanRings(const std::string& spool_dir, Spool* spool,
                                                    const AdmitReport& admit,
                                                    const std::optional<ChildEnd>& child,
                                                    const std::atomic<bool>* stopping) {
  Result<std::string> folder = RingFolder(spool_dir);
  if (!folder.ok()) return folder.status();
  Result<std::vector<std::string>> names = ListDirectory(folder.value());
  if (!names.ok()) return names.status();
  std::vector<std::string> ids;
  Status first_error = Status::Ok();
  CountBook counts(spool->directory());
  const Recovery recovery = {spool, &counts, admit, child, &ids};
  for (const std::string& name : names.value()) {
    if (!EndsWith(name, kRingFileSuffix)) continue;
    if (IsSet(stopping)) break;
    const Status status = RecoverFile(JoinPath(folder.value(), name), recovery);
    if (!status.ok()) {
      LogWarning("ring " + name + ": " + status.message());
      if (first_error.ok()) first_error = status;
    }
  }
  rmdir(folder->c_str());  // succeeds only if no ring is left
  (void)counts.Close().ok();
  if (ids.empty() && !first_error.ok()) return first_error;
  return ids;
}

Result<std::vector<std::string>> RecoverOrphanRings(const std::string& spool_dir) {
  Result<Spool> spool = Spool::Open(spool_dir, SpoolLimits{});
  if (!spool.ok()) return spool.status();
  return RecoverOrphanRings(spool_dir, &spool.value());
}

}  // namespace jankbox
