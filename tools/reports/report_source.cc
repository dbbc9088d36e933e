#include "tools/reports/report_source.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "base/file.h"
#include "base/uuid.h"
#include "report/report_file.h"
#include "report/report_json.h"
#include "tools/reports/http_get.h"

namespace jankbox::tools {
namespace {

using nlohmann::json;

constexpr size_t kMinPrefixLength = 4;
constexpr size_t kMaxListBytes = 256u << 20;
constexpr char kReportsPath[] = "/api/v1/reports";
constexpr size_t kMaxListed = 10'000;  // the most that a collector gives in one answer

bool IsUrl(const std::string& place) {
  return place.rfind("http://", 0) == 0 || place.rfind("https://", 0) == 0;
}

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::string TextOf(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

uint64_t RevisionOf(const SourcedReport& sourced) {
  const auto found = sourced.report.find("revision");
  return found != sourced.report.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
}

// Newest first; ids are ordered by time too.
void Order(std::vector<SourcedReport>* reports) {
  const auto key = [](const SourcedReport& sourced) {
    const auto window = sourced.report.find("window");
    const bool dated = window != sourced.report.end() && window->is_object();
    return std::make_pair(dated ? TextOf(*window, "to") : "", TextOf(sourced.report, "id"));
  };
  std::sort(reports->begin(), reports->end(),
            [&](const SourcedReport& a, const SourcedReport& b) { return key(a) > key(b); });
}

void KeepLatestRevisions(std::vector<SourcedReport>* reports) {
  std::map<std::string, SourcedReport> latest;
  for (SourcedReport& sourced : *reports) {
    const std::string id = TextOf(sourced.report, "id");
    const auto [kept, inserted] = latest.try_emplace(id, sourced);
    if (!inserted && RevisionOf(sourced) > RevisionOf(kept->second)) kept->second = sourced;
  }
  reports->clear();
  for (auto& [id, sourced] : latest) reports->push_back(std::move(sourced));
}

// A report has objects in four of its levels; what is deeper could exhaust the stack of its
// readers.
json ParseAnswer(const std::string& body) {
  constexpr int kDeepest = 32;
  const auto keep = [](int depth, json::parse_event_t, json&) { return depth <= kDeepest; };
  return json::parse(body, keep, /*allow_exceptions=*/false);
}

// Keys that only a collector adds are omitted, so that both sources print the same keys.
json OnlyReportKeys(const json& object) {
  static const json known = ReportToJson(proto::Report());
  json report = json::object();
  for (const auto& [name, value] : object.items()) {
    if (known.contains(name)) report[name] = value;
  }
  return report;
}

Result<SourcedReport> ReadSourcedReport(const std::string& path) {
  Result<proto::Report> report = ReadReportFile(path);
  if (!report.ok()) return report.status();
  return SourcedReport{ReportToJson(report.value()), path};
}

}  // namespace

ReportSource::ReportSource(std::string place) : place_(std::move(place)), is_url_(IsUrl(place_)) {
  while (is_url_ && place_.back() == '/') place_.pop_back();
}

Result<ReportListing> ReportSource::List() const {
  Result<ReportListing> listing = is_url_ ? ListCollector() : ListFolder();
  if (!listing.ok()) return listing;
  KeepLatestRevisions(&listing->reports);
  Order(&listing->reports);
  return listing;
}

Result<ReportListing> ReportSource::ListFolder() const {
  struct stat st {};
  ReportListing listing;
  std::vector<std::string> paths;
  if (stat(place_.c_str(), &st) == 0 && !S_ISDIR(st.st_mode)) {
    paths.push_back(place_);
  } else {
    Result<std::vector<std::string>> names = ListDirectory(place_);
    if (!names.ok()) return names.status();
    for (const std::string& name : names.value()) {
      // A leading dot: a file that is still being written.
      if (name[0] != '.' && EndsWith(name, kReportFileSuffix)) {
        paths.push_back(JoinPath(place_, name));
      }
    }
  }
  for (const std::string& path : paths) {
    struct stat link {};
    Result<SourcedReport> sourced = ReadSourcedReport(path);
    if (sourced.ok()) {
      listing.reports.push_back(std::move(sourced.value()));
    } else if (lstat(path.c_str(), &link) == 0) {  // else: sent just now
      listing.problems.push_back(sourced.status().message());
    }
  }
  return listing;
}

Result<ReportListing> ReportSource::ListCollector() const {
  const std::string url = place_ + kReportsPath;
  Result<std::string> body = HttpGet(url + "?limit=" + std::to_string(kMaxListed), kMaxListBytes);
  if (!body.ok()) return body.status();
  const json answer = ParseAnswer(body.value());
  const auto reports = answer.is_object() ? answer.find("reports") : answer.end();
  if (!answer.is_object() || reports == answer.end() || !reports->is_array()) {
    return Status(StatusCode::kCorrupt, url + ": not a response of jankbox-collector");
  }
  ReportListing listing;
  for (const json& object : *reports) {
    const std::string id = object.is_object() ? TextOf(object, "id") : "";
    if (IsUuid(id)) {
      listing.reports.push_back({OnlyReportKeys(object), url + "/" + id + "/trace"});
    } else {
      listing.problems.push_back(url + ": a report without an id");
    }
  }
  const auto truncated = answer.find("truncated");
  if (reports->size() >= kMaxListed || (truncated != answer.end() && *truncated == true)) {
    listing.problems.push_back(url + ": older reports that do not fit in one response");
  }
  return listing;
}

Result<SourcedReport> ReportSource::FindInCollector(const std::string& id) const {
  const std::string url = place_ + kReportsPath + "/" + id;
  Result<std::string> body = HttpGet(url, kMaxListBytes);
  if (!body.ok()) return body.status();
  const json answer = ParseAnswer(body.value());
  if (!answer.is_object() || TextOf(answer, "id") != id) {
    return Status(StatusCode::kCorrupt, url + ": not a response of jankbox-collector");
  }
  return SourcedReport{OnlyReportKeys(answer), url + "/trace"};
}

Result<SourcedReport> ReportSource::Find(const std::string& prefix) const {
  if (is_url_ && IsUuid(prefix)) return FindInCollector(prefix);
  if (prefix.size() < kMinPrefixLength) {
    return Status(StatusCode::kInvalidArgument,
                  prefix + ": an id needs at least 4 characters (and no file has this name)");
  }
  Result<ReportListing> listing = List();
  if (!listing.ok()) return listing.status();
  std::vector<const SourcedReport*> matches;
  for (const SourcedReport& sourced : listing->reports) {
    if (TextOf(sourced.report, "id").rfind(prefix, 0) == 0) matches.push_back(&sourced);
  }
  if (matches.empty()) {
    return Status(StatusCode::kNotFound, prefix + ": no such file, and no report with that id in " +
                                             place_ + " (try: jankbox list)");
  }
  if (matches.size() == 1) return *matches[0];
  std::string message =
      prefix + ": " + std::to_string(matches.size()) + " reports have ids that start so:";
  for (size_t i = 0; i < std::min<size_t>(matches.size(), 5); ++i) {
    message += " " + TextOf(matches[i]->report, "id");
  }
  return Status(StatusCode::kInvalidArgument, message + (matches.size() > 5 ? " ..." : ""));
}

Result<std::string> ReportSource::Fetch(const std::string& location) {
  return IsUrl(location) ? HttpGet(location, kMaxReportFileBytes)
                         : ReadFile(location, kMaxReportFileBytes);
}

Result<SourcedReport> FindReport(const std::string& file_or_id, const std::string& place) {
  struct stat st {};
  const bool exists = stat(file_or_id.c_str(), &st) == 0 && !S_ISDIR(st.st_mode);
  const bool is_path = file_or_id.find('/') != std::string::npos || EndsWith(file_or_id, ".zst");
  if (!exists && !is_path) return ReportSource(place).Find(file_or_id);
  // The reader follows no symbolic link; one that the user names is meant.
  char* real = realpath(file_or_id.c_str(), nullptr);
  const std::string path = real != nullptr ? real : file_or_id;
  free(real);
  return ReadSourcedReport(path);
}

}  // namespace jankbox::tools
