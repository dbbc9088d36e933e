// The collector's JSON responses. Pure functions of stored rows; names from reports stay
// data, escaped by the JSON writer. Allocates; any thread.
#ifndef JANKBOX_COLLECTOR_JSON_VIEWS_H_
#define JANKBOX_COLLECTOR_JSON_VIEWS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "collector/count_sums.h"
#include "collector/incident_group.h"
#include "collector/store.h"
#include "collector/usage_rates.h"

namespace jankbox::collector {

// "2026-03-01T12:00:00.123Z".
std::string Rfc3339(int64_t realtime_ms);

// ReportToJson, "received_at" and "trace_bytes".
std::string ReportJson(const StoredReport& stored);

// {"reports": […], "truncated": bool}; of a group also the keys "groups" and "moved_to", as
// ResolvedGroup.
std::string ReportListJson(const ReportList& list);

// {"groups": [{fingerprint, kind, incidents, reports, worst_ms, total_ms, p50_ms, title, cause,
// verdict (of the worst), worst_id (empty: there is no report), first_seen, last_seen,
// processes[]}]}.
std::string GroupsJson(const std::vector<IncidentGroup>& groups);

// {"counts": [{key, kind, incidents, total_ns, total_ms, worst_ms, p50_ms, app, cause, message,
// blamed_function, versions[], first_seen, last_seen}], epochs, unsure_stops, lost_incidents}.
std::string CountsJson(const CountSums& sums);

// {"versions": [{app, version, installations, first_day, last_day, foreground_ms, sessions, frames,
// messages, incidents, kinds{kind: incidents}, incidents_per_hour (in front),
// incidents_per_10000_messages, incidents_per_1000_sessions}], "days": [{day, app, version,
// installations, foreground_ms, sessions, frames, messages}], incidents_without_usage}. A rate is
// null if its denominator is 0, a day that is not known "".
std::string UsageJson(const UsageRates& rates);

// {"sections": [{name, fields[]}]}: ReportSections().
std::string SectionsJson();

// {"error": "…"}.
std::string ErrorJson(const std::string& error);

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_JSON_VIEWS_H_
