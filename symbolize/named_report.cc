#include "symbolize/named_report.h"

#include <utility>

#include "report/report.h"
#include "symbolize/report_names.h"

namespace jankbox {
namespace {

bool Fits(const proto::Report& report) { return report.ByteSizeLong() <= kMaxReportMessageBytes; }

}  // namespace

NamingSummary NameReport(const Symbols& symbols, const JavaNames& java, proto::Report* report) {
  NamingSummary summary;
  proto::Report before = *report;
  summary.java_names = ReplaceJavaNames(java, report);
  if (!Fits(*report)) {
    summary.java_names = 0;
    *report = before;
  }
  before = *report;
  NameFrames(symbols, NamedStacks::kAll, report);
  if (Fits(*report)) return summary;
  summary.blamed_only = true;
  *report = before;
  NameFrames(symbols, NamedStacks::kBlamed, report);
  if (!Fits(*report)) *report = std::move(before);
  return summary;
}

}  // namespace jankbox
