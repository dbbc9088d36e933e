#include "tools/merge/merge_text.h"

#include <cstdio>

#include "tools/terminal/terminal.h"

namespace jankbox::tools {
namespace {

using nlohmann::json;

std::string Number(double value, const char* unit) {
  char text[64];
  snprintf(text, sizeof(text), value < 10 ? "%.1f %s" : "%.0f %s", value, unit);
  return text;
}

std::string Duration(uint64_t ns) {
  const double value = static_cast<double>(ns);
  if (ns < 1'000'000) return Number(value / 1e3, "us");
  if (ns < 1'000'000'000) return Number(value / 1e6, "ms");
  return Number(value / 1e9, "s");
}

uint64_t Sum(const std::map<std::string, uint64_t>& counts) {
  uint64_t sum = 0;
  for (const auto& [name, count] : counts) sum += count;
  return sum;
}

std::string List(const std::map<std::string, uint64_t>& counts) {
  std::string text;
  for (const auto& [name, count] : counts) {
    if (!text.empty()) text += ", ";
    text += Printable(name) + " " + std::to_string(count);
  }
  return text;
}

std::string Warnings(const MergeSummary& s) {
  std::string text;
  const auto add = [&](const std::string& line) { text += "warning      " + line + "\n"; };
  if (!s.fit.remark.empty()) add(s.fit.remark);
  if (s.overlap_ns == 0) add("the report and the capture do not overlap");
  if (!s.has_app_threads) {
    add("the capture has no event of the report's threads: it was filtered or has another pid "
        "namespace");
  }
  if (s.fit.method == FitMethod::kNearest) {
    add("the offset of the capture's clock is unknown: record with trace_clock mono or boot, or "
        "use "
        "--clock");
  }
  if (s.lost_events > 0) add("the kernel lost " + std::to_string(s.lost_events) + " events");
  if (s.odd_lines > 0) add(std::to_string(s.odd_lines) + " lines are not events");
  if (s.cut_off) add("the capture ends inside an event, which is omitted");
  if (!s.left_out.empty()) add("omitted, the output format cannot represent: " + List(s.left_out));
  return text;
}

}  // namespace

json MergeToJson(const MergeSummary& s, const std::string& report_id) {
  return {
      {"report", report_id},
      {"capture", CaptureKindName(s.kind)},
      {"packets", s.packets},
      {"app_packets", s.app_packets},
      {"events", s.events},
      {"left_out", s.left_out},
      {"lost_events", s.lost_events},
      {"odd_lines", s.odd_lines},
      {"cut_off", s.cut_off},
      {"has_app_threads", s.has_app_threads},
      {"clock",
       {{"name", s.fit.clock},
        {"aligned_by", FitMethodName(s.fit.method)},
        {"error_ns", s.fit.bound_ns},
        {"evidence", s.fit.evidence},
        {"offset_ns", static_cast<int64_t>(s.fit.boottime_ns - s.fit.stamp)},
        {"remark", s.fit.remark}}},
      {"app_shift_ns", s.app_shift_ns},
      {"app_from_ns", s.app_from_ns},
      {"app_to_ns", s.app_to_ns},
      {"capture_from_ns", s.capture_from_ns},
      {"capture_to_ns", s.capture_to_ns},
      {"overlap_ns", s.overlap_ns},
      {"duplicates", s.duplicates},
      {"duplicate_kernel_events", s.duplicate_kernel_events},
      {"contradictory_switches", s.contradictory_switches},
      {"unmatched_ends", s.unmatched_ends},
      {"moved_slices", s.moved_slices},
      {"longest_move_ns", s.longest_move_ns},
  };
}

std::string RenderMerge(const MergeSummary& s, const std::string& output) {
  std::string text = Printable(output) + ": " + std::to_string(s.packets) + " packets\n";
  text += "capture      " + std::string(CaptureKindName(s.kind)) + ", " +
          std::to_string(Sum(s.events)) + " events: " + List(s.events) + "\n";
  text += "clock        " + Printable(s.fit.clock) + ", aligned by " + FitMethodName(s.fit.method) +
          (s.fit.evidence > 0 ? " (" + std::to_string(s.fit.evidence) + ")" : "") + ", within " +
          Duration(s.fit.bound_ns) + "\n";
  text += "overlap      " + Duration(s.overlap_ns) + " of the report's " +
          Duration(s.app_to_ns - s.app_from_ns) + "\n";
  text += "duplicates   " + std::to_string(s.duplicates) +
          " markers were in both: the capture's are dropped\n";
  if (s.duplicate_kernel_events > 0) {
    text += "             " + std::to_string(s.duplicate_kernel_events) +
            " kernel events were in both: the report's are dropped\n";
  }
  if (s.contradictory_switches > 0) {
    text += "switches     " + std::to_string(s.contradictory_switches) +
            " of the capture contradicted the one before: what is missing is put in, as far as it "
            "is known\n";
  }
  if (s.moved_slices > 0) {
    text += "nesting      " + std::to_string(s.moved_slices) + " slices of the capture moved, by " +
            Duration(s.longest_move_ns) + " at most, to nest with the report's\n";
  }
  if (s.unmatched_ends > 0) {
    text += "             " + std::to_string(s.unmatched_ends) + " unmatched end events dropped\n";
  }
  return text + Warnings(s);
}

std::string MergeNote(const MergeSummary& s) {
  return std::string("merged with ") + CaptureKindName(s.kind) + ", clock " +
         Printable(s.fit.clock) + ", aligned by " + FitMethodName(s.fit.method) + ", within " +
         Duration(s.fit.bound_ns);
}

}  // namespace jankbox::tools
