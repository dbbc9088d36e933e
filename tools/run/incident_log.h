// The lines that `jankbox run` prints about the incidents of one run: one for each as it happens,
// and the sum at the end. Each (id, revision) is reported once; a later revision of an incident is
// reported as its growth. Pure; allocates. Threads: one.
#ifndef JANKBOX_TOOLS_RUN_INCIDENT_LOG_H_
#define JANKBOX_TOOLS_RUN_INCIDENT_LOG_H_

#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "tools/reports/report_view.h"
#include "tools/terminal/terminal.h"

namespace jankbox::tools {

class IncidentLog {
 public:
  explicit IncidentLog(TextStyle style) : style_(style) {}

  // The line for this report at `now_ns`, CLOCK_MONOTONIC; "" if it says nothing new. Of incidents
  // with one fingerprint a line comes every kQuietNs at most, and counts those before it that had
  // none: "(+47 like it)".
  std::string Add(const ReportView& report, uint64_t now_ns);

  static constexpr uint64_t kQuietNs = 5 * kNsPerSecond;

  // The text of a "counted:" message (sdk/runtime/run_channel). What is none is ignored.
  void AddCounted(std::string_view text);

  // "3 incidents (2 slow message, 1 anr), worst 1.2 s", or "no incidents". Then how many more have
  // no report.
  std::string Summary() const;

  bool empty() const { return latest_.empty(); }

 private:
  struct Told {
    uint64_t revision = 0;
    std::string kind;
    double duration_ms = 0;
  };

  struct Alike {
    uint64_t line_ns = 0;  // of its last line
    uint64_t held = 0;     // incidents since then
  };

  TextStyle style_;
  std::map<std::string, Alike> alike_;  // by fingerprint
  std::map<std::string, Told> latest_;  // by id
  std::map<int, uint64_t> counted_;     // incidents without a report, by process
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_RUN_INCIDENT_LOG_H_
