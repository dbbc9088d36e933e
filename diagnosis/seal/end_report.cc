#include "diagnosis/seal/end_report.h"

#include <cstdlib>
#include <cstring>
#include <string>

#include "base/clock.h"
#include "base/signal_name.h"

namespace jankbox {
namespace {

constexpr char kWithoutClosing[] = "ended without closing";

// "ended without closing"; "ended by SIGSEGV".
std::string EndPhrase(const std::string& reason) {
  return reason == kUnknownEnd ? kWithoutClosing : "ended by " + reason;
}

// "while waiting for a message"; "in "Feed.bind" for 12 ms".
std::string MomentPhrase(const SealRequest& request) {
  if (request.begin_ns == request.end_ns) return "while waiting for a message";
  return (request.what.empty() ? "in a message" : "in \"" + request.what + "\"") + " for " +
         std::to_string((request.end_ns - request.begin_ns) / kNsPerMs) + " ms";
}

}  // namespace

void DescribeEnd(const SealRequest& request, Report* report) {
  report->end_reason = request.end.reason;
  report->end_evidence = request.end.evidence;
  report->ends = request.ends;
  if (request.kind != ReportKind::kExit) return;
  report->verdict.summary = EndPhrase(request.end.reason) + ", " + MomentPhrase(request);
}

void TakeExitInfo(Report* report) {
  if (report->end_reason != kUnknownEnd) return;
  std::string reason;
  int status = 0;
  for (const ReportAttribute& attribute : report->attributes) {
    if (attribute.key == "exit_reason") reason = attribute.value;
    if (attribute.key == "exit_status") status = atoi(attribute.value.c_str());
  }
  if (reason.empty()) return;
  report->end_reason = reason == "signal" ? SignalName(status) : reason;
  report->end_evidence = "ApplicationExitInfo";
  std::string& summary = report->verdict.summary;
  if (summary.starts_with(kWithoutClosing)) {
    summary.replace(0, strlen(kWithoutClosing), EndPhrase(report->end_reason));
  }
}

}  // namespace jankbox
