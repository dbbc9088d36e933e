#include "diagnosis/seal/trace_incident.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <string_view>

#include "base/clock.h"
#include "base/text/private_text.h"
#include "report/report.visit.h"

namespace jankbox {
namespace {

using Kind = SnapshotFact::Kind;

constexpr uint64_t kLongMs = 10'000;  // then in seconds

// "slow message", "ANR"
std::string KindWords(ReportKind kind) {
  if (kind == ReportKind::kAnr) return "ANR";
  std::string words(ReportKindName(kind));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string DurationWords(uint64_t ns) {
  const uint64_t ms = (ns + kNsPerMs / 2) / kNsPerMs;
  if (ms < kLongMs) return std::to_string(ms) + " ms";
  char text[32];
  snprintf(text, sizeof(text), "%.1f s", static_cast<double>(ns) / kNsPerSecond);
  return text;
}

// Visits the fields of a message of the report: its times and counts.
template <typename OnNumber>
struct NumberVisitor {
  OnNumber on_number;
  void operator()(std::string_view name, const uint64_t* value) { on_number(name, *value); }
  template <typename Other>
  void operator()(std::string_view, const Other*) {}
};
template <typename Message, typename OnNumber>
void VisitNumbers(Message message, OnNumber on_number) {
  VisitFields(&message, NumberVisitor<OnNumber>{on_number});
}

// "disk" for "disk_ns".
std::string_view WithoutUnit(std::string_view name) { return name.substr(0, name.rfind('_')); }

// "61 % disk": the cause of most of the time. Empty if there is no verdict.
std::string MainCause(const ReportVerdict& verdict) {
  std::string_view cause;
  uint64_t most = 0, total = 0;
  VisitNumbers(verdict, [&](std::string_view name, uint64_t ns) {
    total += ns;
    if (ns <= most) return;
    most = ns;
    cause = WithoutUnit(name);
  });
  if (total == 0) return "";
  return std::to_string((most * 100 + total / 2) / total) + " % " + std::string(cause);
}

std::string FrameWords(const ReportFrame& frame) {
  if (!frame.function.empty()) return frame.function;
  char offset[24];
  snprintf(offset, sizeof(offset), "0x%" PRIx64, frame.rel_pc);
  return frame.module.empty() ? offset : frame.module + "+" + offset;
}

class FactList {
 public:
  void Text(const char* group, std::string name, const std::string& text) {
    if (!text.empty()) facts_.push_back({group, std::move(name), Kind::kText, text});
  }
  void Verbatim(std::string name, const std::string& text) {
    if (!text.empty()) facts_.push_back({"", std::move(name), Kind::kVerbatim, text});
  }
  void Number(const char* group, std::string name, uint64_t value) {
    facts_.push_back({group, std::move(name), Kind::kNumber, {}, value});
  }
  void Ms(const char* group, std::string name, uint64_t ns) {
    facts_.push_back({group, std::move(name), Kind::kMs, {}, ns});
  }
  void Add(const std::vector<SnapshotFact>& facts) {
    facts_.insert(facts_.end(), facts.begin(), facts.end());
  }
  std::vector<SnapshotFact> Take() { return std::move(facts_); }

 private:
  std::vector<SnapshotFact> facts_;
};

void AddVerdict(const ReportVerdict& verdict, FactList* facts) {
  constexpr char kGroup[] = "verdict";
  facts->Text(kGroup, "summary", verdict.summary);
  VisitNumbers(verdict, [&](std::string_view name, uint64_t ns) {
    if (ns != 0) facts->Ms(kGroup, std::string(WithoutUnit(name)) + "_ms", ns);
  });
  std::string sources;
  for (const std::string& source : verdict.sources) {
    sources += (sources.empty() ? "" : ", ") + source;
  }
  facts->Text(kGroup, "sources", sources);
}

// Those that the trace itself reveals are not known yet.
void AddLosses(const Report& report, FactList* facts) {
  constexpr char kGroup[] = "losses";
  if (report.tid != 0) facts->Ms(kGroup, "calls_recorded_ms", report.covered_ns.value_or(0));
  VisitNumbers(report.losses, [&](std::string_view name, uint64_t count) {
    if (count != 0) facts->Number(kGroup, std::string(name), count);
  });
}

std::vector<SnapshotFact> FactsOf(const ReportSource& source, const SealRequest& request,
                                  const Report& report) {
  FactList facts;
  facts.Text("", "app", report.app_name);
  facts.Verbatim("app_version", report.app_version);
  facts.Text("", "thread", report.thread);
  facts.Text("", "message", report.what);
  facts.Verbatim("fingerprint", report.fingerprint);
  facts.Text("", "end_reason", report.end_reason);
  facts.Number("", "revision", report.revision);
  facts.Ms("", "duration_ms", report.duration_ns);
  if (report.held_ns != 0) facts.Ms("", "held_ms", report.held_ns);
  AddVerdict(report.verdict, &facts);
  facts.Add(source.thresholds);
  if (request.anr_limit_ns != 0) facts.Ms("thresholds", "judged_by_ms", request.anr_limit_ns);
  AddLosses(report, &facts);
  return facts.Take();
}

// Several paragraphs for the viewer's help on the track.
std::string Describe(const Report& report) {
  std::string text =
      SealedText(report.verdict.summary.empty() ? report.what : report.verdict.summary);
  if (!text.empty()) text += ".\n";
  text +=
      "Report " + report.id + " of " + (report.app_name.empty() ? report.process : report.app_name);
  if (!report.app_version.empty()) text += " " + report.app_version;
  return text +
         ".\nBelow: what the thread did, and when its calls are missing. The slice has the "
         "verdict, the blamed stack, the thresholds and the losses.";
}

}  // namespace

std::string IncidentSentence(const Report& report, const std::string& place) {
  std::string sentence = KindWords(report.kind);
  if (!report.end_reason.empty()) sentence += " (" + report.end_reason + ")";
  if (report.duration_ns != 0) sentence += " " + DurationWords(report.duration_ns);
  const std::string cause = MainCause(report.verdict);
  if (!cause.empty()) sentence += ": " + cause;
  const std::string& where = place.empty() ? report.what : place;
  if (!where.empty()) sentence += (cause.empty() ? ": " : ", in ") + where;
  return sentence;
}

std::vector<SnapshotStretch> TraceStretches(const Verdict& verdict, const TickConverter& clock) {
  std::vector<SnapshotStretch> stretches;
  for (const VerdictStretch& stretch : verdict.stretches) {
    const VerdictShare* largest = LargestShare(stretch.shares);
    if (largest == nullptr) continue;
    SnapshotStretch drawn{.from_ns = clock.MonotonicToBoottimeNs(stretch.from_ns),
                          .to_ns = clock.MonotonicToBoottimeNs(stretch.to_ns),
                          .name = VerdictCauseName(largest->cause),
                          .detail = PhraseOf(*largest)};
    if (stretch.shares.size() > 1) {
      std::array<uint64_t, kVerdictCauses> ns{};
      for (const VerdictShare& share : stretch.shares) {
        ns[static_cast<size_t>(share.cause)] += share.ns;
      }
      for (size_t cause = 0; cause < kVerdictCauses; ++cause) {
        if (ns[cause] == 0) continue;
        const std::string name = VerdictCauseName(static_cast<VerdictCause>(cause));
        drawn.parts.push_back({"parts", name + "_ms", Kind::kMs, {}, ns[cause]});
      }
    }
    stretches.push_back(std::move(drawn));
  }
  return stretches;
}

SnapshotIncident TraceIncident(const ReportSource& source, const SealRequest& request,
                               const Report& report, const std::string& place) {
  SnapshotIncident incident;
  incident.title = IncidentSentence(report, place);
  incident.description = Describe(report);
  incident.kind = ReportKindName(request.kind);
  incident.report_id = request.id;
  incident.tid = request.tid;
  incident.from_ns = source.clock.MonotonicToBoottimeNs(request.begin_ns);
  incident.to_ns = source.clock.MonotonicToBoottimeNs(request.end_ns);
  incident.facts = FactsOf(source, request, report);
  for (const ReportFrame& frame : report.top_frames) {
    incident.blamed_stack.push_back(FrameWords(frame));
  }
  return incident;
}

}  // namespace jankbox
