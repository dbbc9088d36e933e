// Reads reports from a folder, one file, or a collector's URL. Each returns the same JSON
// (report/report_json.h). Blocks on the disk or the network. It trusts nothing that it reads:
// damaged files are named and skipped. Threads: one.
#ifndef JANKBOX_TOOLS_REPORTS_REPORT_SOURCE_H_
#define JANKBOX_TOOLS_REPORTS_REPORT_SOURCE_H_

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace jankbox::tools {

struct SourcedReport {
  nlohmann::json report;
  std::string location;  // path of its file, or URL of its trace
};

struct ReportListing {
  std::vector<SourcedReport> reports;  // newest first, one for each id (its latest revision)
  std::vector<std::string> problems;   // one line for each file that could not be read
};

class ReportSource {
 public:
  // `place`: "http://…" or "https://…", else a path.
  explicit ReportSource(std::string place);

  const std::string& place() const { return place_; }

  Result<ReportListing> List() const;

  // The report whose id begins with `prefix` (4 characters or more). kNotFound if there is none,
  // kInvalidArgument if there are several.
  Result<SourcedReport> Find(const std::string& prefix) const;

  // The bytes of a sealed report, from a path or a URL.
  static Result<std::string> Fetch(const std::string& location);

 private:
  Result<ReportListing> ListFolder() const;
  Result<ReportListing> ListCollector() const;
  Result<SourcedReport> FindInCollector(const std::string& id) const;

  std::string place_;
  bool is_url_;
};

// A report by file or id: what names an existing file is one, all else is looked up in `place`.
Result<SourcedReport> FindReport(const std::string& file_or_id, const std::string& place);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_REPORTS_REPORT_SOURCE_H_
