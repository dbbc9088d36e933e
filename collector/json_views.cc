#include "collector/json_views.h"

#include <time.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "report/counts_format.h"
#include "report/group_key.h"
#include "report/report_json.h"

namespace jankbox::collector {
namespace {

using nlohmann::json;

double Milliseconds(uint64_t ns) { return static_cast<double>(ns) / 1e6; }

std::string Text(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

json StoredReportToJson(const StoredReport& stored) {
  json object = ReportToJson(stored.report);
  object["received_at"] = Rfc3339(stored.received_at_ms);
  object["trace_bytes"] = stored.trace_bytes;
  return object;
}

// Where the worst one was. Of an older report the innermost frame that has a name, else its place,
// else what was dispatched.
std::string TitleOf(const proto::Report& report) {
  if (!report.identity().blamed_function().empty()) return report.identity().blamed_function();
  for (const proto::Frame& frame : report.top_frames()) {
    if (!frame.function().empty()) return frame.function();
  }
  if (!report.what().empty()) return report.what();
  if (report.fingerprint() == kOtherKey) return "other incidents";
  if (report.top_frames_size() > 0) {
    char offset[24];
    snprintf(offset, sizeof(offset), "+0x%llx",
             static_cast<unsigned long long>(report.top_frames(0).rel_pc()));
    return report.top_frames(0).module() + offset;
  }
  return std::string(KindName(report.kind()));
}

std::string CauseOf(const IncidentGroup& group) {
  if (group.reports != 0) return group.worst.verdict().summary();
  if (group.worst.fingerprint() == kOtherKey) {
    return "of more causes than a device counts one by one, or too many at once to look at";
  }
  const std::string& cause = group.worst.identity().cause();
  return cause.empty() ? "counted; no report is here" : cause + "; no report is here";
}

json GroupToJson(const IncidentGroup& group) {
  const json worst = ReportToJson(group.worst);
  return {{"key", group.key},
          {"fingerprint", group.worst.fingerprint()},
          {"provisional", GroupKeyOf(group.worst).provisional},
          {"kind", worst["kind"]},
          {"incidents", group.incidents},
          {"reports", group.reports},
          {"worst_ms", Milliseconds(group.worst_ns)},
          {"total_ms", Milliseconds(group.total_ns)},
          {"p50_ms", Milliseconds(group.p50_ns)},
          {"title", TitleOf(group.worst)},
          {"cause", CauseOf(group)},
          {"verdict", worst["verdict"]},
          {"worst_id", group.worst.id()},
          {"first_seen", Rfc3339(group.first_received_ms)},
          {"last_seen", Rfc3339(group.last_received_ms)},
          {"processes", group.processes}};
}

// "2026-03-01".
std::string DateOf(uint32_t day) {
  return day == 0 ? "" : Rfc3339(int64_t{day} * 86'400'000).substr(0, 10);
}

json UsageToJson(const UsageSum& sum) {
  return {{"app", sum.app},
          {"version", sum.version},
          {"installations", sum.installations},
          {"foreground_ms", sum.foreground_ms},
          {"sessions", sum.sessions},
          {"frames", sum.frames},
          {"messages", sum.messages}};
}

json Rate(uint64_t incidents, uint64_t amount, double unit) {
  if (amount == 0) return nullptr;
  return static_cast<double>(incidents) * unit / static_cast<double>(amount);
}

json VersionToJson(const VersionUsage& usage) {
  constexpr double kHourMs = 3'600'000;
  json version = UsageToJson(usage);
  version["first_day"] = DateOf(usage.first_day);
  version["last_day"] = DateOf(usage.last_day);
  version["incidents"] = usage.incidents;
  json kinds = json::object();
  for (const auto& [kind, incidents] : usage.kinds) kinds[KindName(kind)] = incidents;
  version["kinds"] = std::move(kinds);
  version["incidents_per_hour"] = Rate(usage.incidents, usage.foreground_ms, kHourMs);
  version["incidents_per_10000_messages"] = Rate(usage.incidents, usage.messages, 10'000);
  version["incidents_per_1000_sessions"] = Rate(usage.incidents, usage.sessions, 1'000);
  return version;
}

}  // namespace

std::string Rfc3339(int64_t realtime_ms) {
  const time_t seconds = static_cast<time_t>(realtime_ms / 1000);
  tm utc{};
  gmtime_r(&seconds, &utc);
  char date[32];
  strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &utc);
  char text[48];
  snprintf(text, sizeof(text), "%s.%03dZ", date, static_cast<int>(realtime_ms % 1000));
  return text;
}

std::string ReportJson(const StoredReport& stored) { return Text(StoredReportToJson(stored)); }

std::string ReportListJson(const ReportList& list) {
  json reports = json::array();
  for (const StoredReport& stored : list.reports) reports.push_back(StoredReportToJson(stored));
  json object = {{"reports", std::move(reports)}, {"truncated", list.truncated}};
  if (!list.group.keys.empty()) {
    object["groups"] = list.group.keys;
    object["moved_to"] = list.group.moved_to;
  }
  return Text(object);
}

std::string SectionsJson() {
  json sections = json::array();
  for (const ReportSection& section : ReportSections()) {
    sections.push_back({{"name", section.name}, {"fields", section.fields}});
  }
  return Text({{"sections", std::move(sections)}});
}

std::string GroupsJson(const std::vector<IncidentGroup>& groups) {
  json array = json::array();
  for (const IncidentGroup& group : groups) array.push_back(GroupToJson(group));
  return Text({{"groups", std::move(array)}});
}

std::string CountsJson(const CountSums& sums) {
  json counts = json::array();
  for (const auto& [key, count] : sums.keys) {
    counts.push_back({{"key", key},
                      {"kind", KindName(count.latest.kind())},
                      {"incidents", count.incidents},
                      {"total_ns", count.total_ns},
                      {"total_ms", Milliseconds(count.total_ns)},
                      {"worst_ms", Milliseconds(count.max_ns)},
                      {"p50_ms", Milliseconds(count.p50_ns())},
                      {"app", count.latest.app()},
                      {"cause", count.latest.cause()},
                      {"message", count.latest.message()},
                      {"blamed_function", count.latest.blamed_function()},
                      {"versions", count.versions},
                      {"first_seen", Rfc3339(count.first_received_ms)},
                      {"last_seen", Rfc3339(count.last_received_ms)}});
  }
  return Text({{"counts", std::move(counts)},
               {"epochs", sums.epochs},
               {"unsure_stops", sums.unsure_stops},
               {"lost_incidents", sums.lost_incidents}});
}

std::string UsageJson(const UsageRates& rates) {
  json versions = json::array();
  for (const VersionUsage& usage : rates.versions) versions.push_back(VersionToJson(usage));
  json days = json::array();
  for (const DayUsage& usage : rates.days) {
    json day = UsageToJson(usage);
    day["day"] = DateOf(usage.day);
    days.push_back(std::move(day));
  }
  return Text({{"versions", std::move(versions)},
               {"days", std::move(days)},
               {"incidents_without_usage", rates.without_usage}});
}

std::string ErrorJson(const std::string& error) { return Text({{"error", error}}); }

}  // namespace jankbox::collector
