#include "diagnosis/seal/count_report.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/text/private_text.h"
#include "tracer/ring/ring_reader.h"

namespace jankbox {
namespace {

void Count(const CountedIncident& incident, CountBook* book) {
  const Status counted = book->Count(incident);
  if (!counted.ok()) LogWarning("an incident is counted later: " + counted.message());
}

// Null if there is nothing to count, or not yet.
std::optional<CountedIncident> CountedOf(Report* report) {
  if (report->kind == ReportKind::kManual) return std::nullopt;
  report->counted = true;
  if (report->ongoing) return std::nullopt;
  CountedIncident incident;
  incident.id = report->id;
  ReportCounter& counter = incident.counter;
  counter.version = report->app_version;
  counter.key = report->fingerprint;
  counter.incidents = 1;
  counter.total_ns = counter.max_ns = report->duration_ns;
  counter.kind = report->kind;
  counter.app = report->identity.app;
  counter.cause = report->identity.cause;
  counter.message = SealedText(report->identity.message);
  counter.blamed_function = SealedText(report->identity.blamed_function);
  return incident;
}

}  // namespace

void CountReport(Report* report, CountBook* book) {
  if (const auto incident = CountedOf(report)) Count(*incident, book);
}

void CountReportLater(Report* report, CountBook* book) {
  if (const auto incident = CountedOf(report)) book->CountLater(*incident);
}

void CountTogether(const UncountedIncident& incidents, const std::string& app_version,
                   CountBook* book) {
  CountedIncident counted;
  counted.id = incidents.id;
  ReportCounter& counter = counted.counter;
  counter.version = app_version;
  counter.key = kOtherKey;
  counter.incidents = incidents.incidents;
  counter.total_ns = incidents.total_ns;
  counter.max_ns = incidents.max_ns;
  const auto kind = static_cast<ReportKind>(incidents.kind);
  counter.kind = ReportKindName(kind).empty() ? ReportKind::kUnspecified : kind;
  if (counter.incidents != 0) Count(counted, book);
}

ProcessUsage UsageOfRing(const RingHeader& ring) {
  const RecordedUsage recorded = UsageOf(ring);
  ProcessUsage usage;
  usage.id = recorded.id;
  usage.total.day = static_cast<uint32_t>(std::min<uint64_t>(recorded.day, kMaxUsageDay));
  usage.total.app = HeaderText(ring.app_name, sizeof(ring.app_name));
  usage.total.version = HeaderText(ring.app_version, sizeof(ring.app_version));
  usage.total.foreground_ms = recorded.foreground_ns / kNsPerMs;
  usage.total.sessions = recorded.sessions;
  usage.total.frames = recorded.frames;
  usage.total.messages = recorded.messages;
  return usage;
}

}  // namespace jankbox
