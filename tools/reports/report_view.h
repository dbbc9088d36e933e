// The contents of a report that the command prints, from its JSON (report/report_json.h), which is
// the same from a folder and from a collector. The JSON may come from any server: a missing or
// mistyped field reads as empty. Pure; allocates.
#ifndef JANKBOX_TOOLS_REPORTS_REPORT_VIEW_H_
#define JANKBOX_TOOLS_REPORTS_REPORT_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/reports/duration_text.h"
#include "tools/reports/end_text.h"
#include "tools/reports/report_facts.h"

namespace jankbox::tools {

// All strings are printable (terminal.h).
struct ReportView {
  struct Frame {
    std::string function;  // "module+0x1234" if no symbol covers it
    std::string module;
    std::string place;  // "view.cc:12"; empty: not known
    bool instrumented = false;
    bool inlined = false;  // into the next frame
  };
  struct Share {
    std::string cause;  // "running", "lock", …
    double ms = 0;
  };

  struct Message {
    std::string what;
    double before_ms = 0;  // from its start to the incident's
    double wall_ms = 0;
    uint64_t count = 0;  // messages of one name in a row
  };
  // The thread's messages before the incident.
  struct History {
    uint64_t count = 0;  // 0: not known
    double busy_ms = 0;
    uint64_t left_out = 0;
    std::vector<Message> longest;
    std::vector<Message> last;  // oldest first
  };

  // Java calls of the thread, as the Java VM named them; no calls: none were sampled.
  struct JavaStack {
    std::string seen;                // "in 20 of 22 samples"
    std::string wait;                // what the thread waited for; "" if nothing, or not one thing
    std::vector<std::string> calls;  // innermost first: "Editor.save(Editor.java:12)"
    std::string own_call;            // the innermost one that is not the platform's: "Editor.save"
  };

  struct Part {
    double ms = 0;
    std::string detail;  // "in fdatasync on a regular file"
    std::string source;
    bool estimate = false;
  };

  std::string id;
  uint64_t revision = 0;
  std::string kind;  // "slow message"
  double duration_ms = 0;
  bool ongoing = false;
  std::string what;
  std::string process;
  int64_t pid = 0;
  std::string thread;
  int64_t tid = 0;
  std::string fingerprint;
  std::string blamed_function;  // empty: an older report
  std::string basis;            // of the fingerprint: "stack", "message"; empty: an older report
  std::string group_key;        // empty: an older report
  uint64_t repeat_count = 0;    // incidents of the fingerprint when it was written; 0: not known
  bool provisional = false;     // the group key
  std::string end_reason;       // "" unless the process had ended; "unknown": nothing says how
  std::vector<Share> shares;    // all ten, in the schema's order
  std::vector<Part> parts;      // the same time in finer parts, the largest first
  std::string summary;
  std::vector<std::string> sources;
  std::vector<Frame> frames;  // innermost first
  JavaStack java;
  History history;
  std::string window_from;  // RFC 3339
  std::string window_to;
  double window_ms = 0;
  std::vector<std::pair<std::string, uint64_t>> losses;  // only those that are not zero
  std::vector<std::string> notes;
  std::string sampler;
  std::string loop;
  uint64_t sample_count = 0;
  uint64_t sched_switches = 0;
  uint64_t frame_dropped = 0;
  std::vector<ReportFact> facts;
  double self_cpu_ms = 0;
  // Where that went, by account; those that used none are left out.
  std::vector<std::pair<std::string, double>> self_cpu_accounts_ms;
  double recording_ms = 0;
  double uptime_ms = 0;  // 0: not known
  std::vector<std::string>
      recording;  // "coarse (over budget)", oldest first; empty: exact all along
  uint64_t ring_bytes = 0;
  uint64_t start_us = 0;
};

ReportView ViewReport(const nlohmann::json& report);

// The function that a developer would look at first: the innermost Java call outside the JDK,
// unless a method was instrumented, else as the report has it. In an older report: the innermost
// instrumented method, else the innermost named function outside the C library and the kernel's
// entry, else the innermost Java call, else the innermost frame, else what was dispatched. "" if
// nothing is known.
std::string BlamedFunction(const ReportView& report);

// The report is about the end of its process, and not about a time that something took.
bool IsExit(const ReportView& report);

// "gtk3-widget-fac (main)": the process, and its thread if that says more.
std::string ProcessAndThread(const ReportView& report);

// Local time of an RFC 3339 time in UTC: "2026-03-01 13:00:00", or with only_clock "13:00:00.123".
// The text itself if it does not parse.
std::string LocalTime(const std::string& rfc3339, bool only_clock = false);

// The beginning of a report's id that distinguishes it from others: UUIDv7's time in milliseconds.
inline constexpr size_t kShortIdLength = 13;

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_REPORTS_REPORT_VIEW_H_
