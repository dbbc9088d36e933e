#include "diagnosis/seal/end_report.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/clock.h"
#include "base/signal_name.h"

namespace jankbox {
namespace {

constexpr char kWithoutClosing[] = "ended without closing";

// "ended by SIGSEGV".
void AddPhrase(const std::string& reason, std::string* text) {
  if (reason == kUnknownEnd) {
    text->append(kWithoutClosing);
  } else {
    text->append("ended by ").append(reason);
  }
}

// ", while waiting for a message"; ", in "Feed.bind" for 12 ms".
void AddMoment(const SealRequest& request, std::string* text) {
  const uint64_t ms = (request.end_ns - request.begin_ns) / kNsPerMs;
  char moment[128] = ", while waiting for a message";
  if (request.begin_ns != request.end_ns) {
    snprintf(moment, sizeof(moment), ", in \"%s\" for %llu ms",
             request.what.empty() ? "a message" : request.what.c_str(),
             static_cast<unsigned long long>(ms));
  }
  text->append(moment);
}

}  // namespace

void DescribeEnd(const SealRequest& request, Report* report) {
  report->end_reason = request.end.reason;
  report->end_evidence = request.end.evidence;
  report->ends = request.ends;
  if (request.kind != ReportKind::kExit) return;
  report->verdict.summary.clear();
  AddPhrase(request.end.reason, &report->verdict.summary);
  AddMoment(request, &report->verdict.summary);
}

void TakeExitInfo(Report* report) {
  if (report->end_reason != kUnknownEnd) return;
  const char* reason = nullptr;
  int status = 0;
  for (const ReportAttribute& attribute : report->attributes) {
    if (attribute.key == "exit_reason") reason = attribute.value.c_str();
    if (attribute.key == "exit_status") status = atoi(attribute.value.c_str());
  }
  if (reason == nullptr) return;
  report->end_reason = strcmp(reason, "signal") == 0 ? SignalName(status) : reason;
  report->end_evidence = "ApplicationExitInfo";
  std::string& summary = report->verdict.summary;
  if (!summary.starts_with(kWithoutClosing)) return;
  summary.erase(0, strlen(kWithoutClosing));
  std::string phrase;
  AddPhrase(report->end_reason, &phrase);
  summary.insert(0, phrase);
}

}  // namespace jankbox
