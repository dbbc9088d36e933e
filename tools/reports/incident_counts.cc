#include "tools/reports/incident_counts.h"

#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "report/counts_format.h"
#include "tools/reports/duration_text.h"
#include "tools/reports/http_get.h"
#include "tools/reports/json_field.h"
#include "uploader/counts/count_book.h"

namespace jankbox::tools {
namespace {

using nlohmann::json;

constexpr size_t kMaxAnswerBytes = 64u << 20;

IncidentCounts OfCollector(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  IncidentCounts counts;
  const Result<std::string> body = HttpGet(url + "/api/v1/counts", kMaxAnswerBytes);
  if (!body.ok()) return counts;  // as one of 0.1 answers
  const json answer = json::parse(body.value(), nullptr, /*allow_exceptions=*/false);
  for (const json& count : JsonField(answer, "counts")) {
    counts[JsonText(count, "key")] = {JsonCount(count, "incidents"), JsonNumber(count, "total_ms"),
                                      JsonNumber(count, "worst_ms")};
  }
  return counts;
}

IncidentCounts OfFolder(const std::string& folder) {
  IncidentCounts counts;
  const Result<ReportCountBook> book = CountBook::Read(folder);
  if (!book.ok()) return counts;
  for (const ReportBookedCounter& booked : book->counters) {
    IncidentCount& count = counts[booked.counter.key];
    count.incidents += booked.counter.incidents;
    count.total_ms += static_cast<double>(booked.counter.total_ns) / 1e6;
    count.worst_ms = std::max(count.worst_ms, static_cast<double>(booked.counter.max_ns) / 1e6);
  }
  return counts;
}

std::string Number(uint64_t count, const char* name) {
  return std::to_string(count) + " " + name + (count == 1 ? "" : "s");
}

}  // namespace

IncidentCounts ReadIncidentCounts(const std::string& place) {
  if (place.starts_with("http://") || place.starts_with("https://")) return OfCollector(place);
  struct stat st {};
  const bool is_file = stat(place.c_str(), &st) == 0 && !S_ISDIR(st.st_mode);
  if (!is_file) return OfFolder(place);
  return OfFolder(place.find('/') == std::string::npos ? "." : std::string(DirName(place)));
}

std::string CountsInBrief(const IncidentCounts& counts) {
  IncidentCount all;
  for (const auto& [key, count] : counts) {
    all.incidents += count.incidents;
    all.total_ms += count.total_ms;
  }
  if (all.incidents == 0) return "";
  const bool has_other = counts.contains(kOtherKey);
  std::string text = Number(all.incidents, "incident") + " of " +
                     Number(counts.size() - (has_other ? 1 : 0), "cause");
  if (has_other) text += " and others";
  return text + ", " + DurationText(all.total_ms) + " in all";
}

std::string CountText(const IncidentCount& count) {
  std::string text = std::to_string(count.incidents) + " so far";
  if (count.total_ms > 0) {
    text += ", " + DurationText(count.total_ms) + " in all, the longest " +
            DurationText(count.worst_ms);
  }
  return text;
}

}  // namespace jankbox::tools
