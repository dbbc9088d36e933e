#include "tools/reports/list_command.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tools/reports/report_folder.h"
#include "tools/reports/report_source.h"
#include "tools/terminal/exit_code.h"
#include "tools/terminal/json_text.h"
#include "tools/terminal/table.h"
#include "tools/terminal/verdict_bar.h"

namespace jankbox::tools {
namespace {

constexpr size_t kShortFingerprintLength = 8;

Colour LargestCauseColour(const ReportView& report) {
  const ReportView::Share* largest = nullptr;
  for (const ReportView::Share& share : report.shares) {
    if (share.ms > (largest == nullptr ? 0 : largest->ms)) largest = &share;
  }
  return largest == nullptr ? Colour::kNone : CauseColour(largest->cause);
}

// With the incidents of this fingerprint, most of which have no report.
std::string Fingerprint(const TextStyle& style, const ReportView& report, uint64_t incidents) {
  std::string text = report.fingerprint.substr(0, kShortFingerprintLength);
  if (incidents > 1) text += (style.unicode ? " ×" : " x") + std::to_string(incidents);
  return text;
}

// "40 incidents of 3 causes, 12.3 s in all; 7 reports".
std::string Footer(const std::vector<ReportView>& reports, const IncidentCounts& counts) {
  const std::string brief = CountsInBrief(counts);
  if (brief.empty()) return "";
  return brief + "; " + std::to_string(reports.size()) +
         (reports.size() == 1 ? " report\n" : " reports\n");
}

// The time of today's reports, the day and minute of older ones.
std::string BriefTime(const std::string& rfc3339) {
  const std::string time = LocalTime(rfc3339);
  const time_t now = ::time(nullptr);
  tm local{};
  localtime_r(&now, &local);
  char today[32];
  strftime(today, sizeof(today), "%Y-%m-%d", &local);
  constexpr size_t kDayLength = 10;
  constexpr size_t kMinuteLength = 16;
  if (time.compare(0, kDayLength, today) == 0) return time.substr(kDayLength + 1);
  return time.substr(0, kMinuteLength);
}

// The prefix that distinguishes each id from all others, kShortIdLength or longer.
size_t UniqueIdLength(const std::vector<ReportView>& reports) {
  size_t length = kShortIdLength;
  std::map<std::string, std::string> sorted;
  for (const ReportView& report : reports) sorted[report.id] = report.id;
  const std::string* previous = nullptr;
  for (const auto& [id, same] : sorted) {
    while (previous != nullptr && length < id.size() &&
           previous->compare(0, length, id, 0, length) == 0) {
      ++length;
    }
    previous = &same;
  }
  return length;
}

}  // namespace

std::string RenderList(const TextStyle& style, const std::vector<ReportView>& reports,
                       const IncidentCounts& counts) {
  std::map<std::string, uint64_t> incidents;
  for (const ReportView& report : reports) ++incidents[report.fingerprint];
  for (const auto& [fingerprint, count] : counts) {
    incidents[fingerprint] = std::max(incidents[fingerprint], count.incidents);
  }
  const size_t id_length = UniqueIdLength(reports);
  Table table({{.title = "TIME", .drop_order = 2},
               {.title = "KIND", .min_width = 12},
               {.title = "DURATION", .right_aligned = true},
               {.title = "PROCESS", .min_width = 14, .drop_order = 1},
               {.title = "CAUSE", .min_width = 13},
               {.title = "WHERE", .min_width = 20},
               {.title = "FINGERPRINT", .drop_order = 3},
               {.title = "ID"}});
  for (const ReportView& report : reports) {
    const std::string duration =
        IsExit(report) ? "-" : DurationText(report.duration_ms) + (report.ongoing ? "+" : "");
    const std::string cause =
        IsExit(report) ? EndText(report.end_reason) : CauseInBrief(report.shares);
    const std::string where = BlamedFunction(report);
    table.AddRow({{BriefTime(report.window_to), Colour::kDim},
                  {report.kind, KindColour(report.kind)},
                  {duration, Colour::kBold},
                  {ProcessAndThread(report)},
                  {cause, LargestCauseColour(report)},
                  {where.empty() ? "-" : where},
                  {Fingerprint(style, report, incidents[report.fingerprint]), Colour::kDim},
                  {report.id.substr(0, id_length)}});
  }
  return table.Render(style) + Footer(reports, counts);
}

int RunList(const ListOptions& options) {
  const bool is_default = options.place.empty();
  const ReportSource source(is_default ? DefaultReportDirectory() : options.place);
  Result<ReportListing> listing = source.List();
  if (!listing.ok() && is_default && listing.status().code() == StatusCode::kNotFound) {
    listing = ReportListing();  // nothing was ever recorded here
  }
  if (!listing.ok()) {
    PrintError(listing.status().message());
    return kExitFailed;
  }
  for (const std::string& problem : listing->problems) PrintError("skipped " + problem);

  std::string text;
  if (options.json) {
    nlohmann::json reports = nlohmann::json::array();
    for (const SourcedReport& sourced : listing->reports) reports.push_back(sourced.report);
    text = JsonText(reports);
  } else {
    const IncidentCounts counts = ReadIncidentCounts(source.place());
    std::vector<ReportView> views;
    for (const SourcedReport& sourced : listing->reports) {
      views.push_back(ViewReport(sourced.report));
    }
    text = views.empty() ? Footer(views, counts)
                         : RenderList(DetectTextStyle(STDOUT_FILENO), views, counts);
  }
  if (listing->reports.empty() && listing->problems.empty()) {
    PrintError("no reports in " + source.place());
  }
  if (!WriteText(STDOUT_FILENO, text)) return kExitFailed;
  return listing->reports.empty() && !listing->problems.empty() ? kExitFailed : kExitOk;
}

}  // namespace jankbox::tools
