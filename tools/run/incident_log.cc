#include "tools/run/incident_log.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "tools/run/message_fields.h"
#include "tools/terminal/verdict_bar.h"

namespace jankbox::tools {

std::string IncidentLog::Add(const ReportView& report, uint64_t now_ns) {
  const auto known = latest_.find(report.id);
  if (known != latest_.end() && known->second.revision >= report.revision) return "";
  // Java code has no symbols: the fingerprint is that of all Java code on the thread.
  Alike& alike =
      alike_[report.fingerprint.empty() ? report.id : report.fingerprint + report.java.own_call];
  const bool is_new = known == latest_.end();
  if (is_new && alike.line_ns != 0 && now_ns < alike.line_ns + kQuietNs) {
    latest_[report.id] = {report.revision, report.kind, report.duration_ms};
    ++alike.held;
    return "";
  }
  const std::string extent =
      IsExit(report) ? report.kind : report.kind + " " + DurationText(report.duration_ms);
  std::string line;
  if (is_new) {
    line = Paint(style_, KindColour(report.kind), extent) + (report.ongoing ? " so far" : "") +
           " in " + ProcessAndThread(report);
  } else {
    line = known->second.kind + " in " + ProcessAndThread(report) + " grew to " +
           Paint(style_, KindColour(report.kind), extent) + (report.ongoing ? " so far" : "");
  }
  const std::string cause =
      IsExit(report) ? EndText(report.end_reason) : CauseInBrief(report.shares);
  const std::string where = BlamedFunction(report);
  const char* dash = style_.unicode ? " — " : " - ";
  if (!cause.empty()) line += ": " + cause;
  if (!where.empty()) line += dash + Paint(style_, Colour::kBold, where);
  line += "  " + Paint(style_, Colour::kDim, "[" + report.id.substr(0, kShortIdLength) + "]");
  if (alike.held != 0) line += " (+" + std::to_string(alike.held) + " like it)";
  alike = {now_ns, 0};
  latest_[report.id] = {report.revision, report.kind, report.duration_ms};
  return line;
}

void IncidentLog::AddCounted(std::string_view text) {
  const std::vector<std::string_view> fields = Fields(text);
  if (fields.size() != 2) return;
  const std::optional<uint64_t> pid = Number(fields[0]), incidents = Number(fields[1]);
  if (pid && incidents) counted_[static_cast<int>(*pid)] = *incidents;
}

std::string IncidentLog::Summary() const {
  uint64_t counted = 0;
  for (const auto& [pid, incidents] : counted_) counted += incidents;
  if (latest_.empty() && counted == 0) return "no incidents";
  const std::string only_counted =
      "only counted: such ones were known, and the CPU budget was used up "
      "(JANKBOX_OPTIONS=cpu_budget_permille=none reports each)";
  if (latest_.empty()) return Plural(counted, "incident") + ", " + only_counted;
  std::map<std::string, int> kinds;
  double worst_ms = 0;
  for (const auto& [id, told] : latest_) {
    ++kinds[told.kind];
    if (told.kind != "exit") worst_ms = std::max(worst_ms, told.duration_ms);
  }
  std::string by_kind;
  for (const auto& [kind, count] : kinds) {
    by_kind += (by_kind.empty() ? "" : ", ") + std::to_string(count) + " " + kind;
  }
  return Plural(latest_.size(), "incident") + " (" + by_kind + ")" +
         (worst_ms > 0 ? ", worst " + DurationText(worst_ms) : "") +
         (counted > 0 ? ", and " + std::to_string(counted) + " more " + only_counted : "");
}

}  // namespace jankbox::tools
