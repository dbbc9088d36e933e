#include "diagnosis/seal/report_gate.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/clock.h"

namespace jankbox {
namespace {

// An incident that is longer by this share than all repeats so far may become the worst one.
constexpr uint64_t kWorthALook = 4;

// The end of a UUIDv7 is random.
uint64_t RandomBitsOf(const std::string& id) {
  return strtoull(id.substr(id.size() - std::min<size_t>(id.size(), 12)).c_str(), nullptr, 16);
}

}  // namespace

ReportGate::ReportGate(const std::string& folder, const RepeatLimits& limits,
                       RepeatBook::Clock clock, AdmitReport ask, Refusals* refusals)
    : limits_(limits),
      ask_(std::move(ask)),
      refusals_(refusals),
      book_(folder, limits, std::move(clock)) {}

bool ReportGate::Admit(const ReportedIncident& incident, Report* report) {
  if (!ask_(incident, report)) {
    refusals_->Add(RefusalReason::kVeto, MonotonicNs());
    return false;
  }
  return report->kind == ReportKind::kManual || AdmitRepeat(report);
}

bool ReportGate::AdmitRepeat(Report* report) {
  auto known = std::find_if(known_.begin(), known_.end(),
                            [&](const Known& incident) { return incident.id == report->id; });
  const bool first_revision = known == known_.end();
  if (first_revision) {
    if (known_.size() >= kMaxKnown) known_.pop_front();
    known_.push_back({report->id, report->fingerprint});
    known = known_.end() - 1;
  }
  RepeatAnswer answer;
  book_.Change([&](RepeatState* state) {
    const bool severe = IsSevere(report->kind);
    if (const auto spared = spared_.extract(known->fingerprint)) {
      CountUnseen(known->fingerprint, spared.mapped(), state);
    }
    answer = first_revision ? CountIncident(limits_, known->fingerprint, report->duration_ns,
                                            severe, RandomBitsOf(report->id), state)
                            : ReviseIncident(limits_, known->fingerprint, report->duration_ns,
                                             severe, known->written, state);
  });
  report->repeat_count = answer.count;
  report->losses.suppressed_incidents = answer.unreported;
  NoteRepeat(*report, answer.exemplar != Exemplar::kNone);
  if (answer.exemplar == Exemplar::kNone) {
    // A second refusal of one incident is none.
    if (first_revision) refusals_->Add(answer.reason, MonotonicNs());
    return false;
  }
  report->exemplar = ExemplarName(answer.exemplar);
  known->written = true;
  return true;
}

void ReportGate::NoteRepeat(const Report& report, bool admitted) {
  Repeat repeat;
  repeat.longest_ns = report.duration_ns;
  repeat.is_repeat = !admitted;
  std::erase_if(repeats_, [&](const Repeat& before) {
    if (before.counted.kind != report.kind || before.counted.what != report.what) return false;
    repeat.longest_ns = std::max(repeat.longest_ns, before.longest_ns);
    if (before.counted.fingerprint == report.fingerprint) repeat.is_repeat = true;
    return true;
  });
  if (repeats_.size() >= kMaxRepeats) repeats_.pop_front();
  repeat.counted.kind = report.kind;
  repeat.counted.what = report.what;
  repeat.counted.app_version = report.app_version;
  repeat.counted.fingerprint = report.fingerprint;
  repeat.counted.identity = report.identity;
  repeats_.push_back(std::move(repeat));
}

std::optional<Report> ReportGate::KnownRepeat(const SealRequest& request) const {
  // A method's name is not known yet, and a later revision replaces a report. The app asked for its
  // own incidents.
  const bool by_app = request.kind == ReportKind::kCustom || request.kind == ReportKind::kManual;
  const bool grows = request.ongoing || request.revision > 1;
  if (by_app || grows || request.method || IsSevere(request.kind)) return {};
  const uint64_t duration_ns = request.end_ns - request.begin_ns - request.held_ns;
  for (const Repeat& repeat : repeats_) {
    if (!repeat.is_repeat || repeat.counted.kind != request.kind) continue;
    if (repeat.counted.what != request.what) continue;
    if (duration_ns > repeat.longest_ns + repeat.longest_ns / kWorthALook) return {};
    Report counted = repeat.counted;
    counted.id = request.id;
    counted.duration_ns = duration_ns;
    return counted;
  }
  return {};
}

void ReportGate::Spared(const Report& repeat) {
  refusals_->Add(RefusalReason::kOverBudget, MonotonicNs());
  ++spared_[repeat.fingerprint];
}

void ReportGate::NotWritten(const std::string& id) {
  const auto known = std::find_if(known_.begin(), known_.end(),
                                  [&](const Known& incident) { return incident.id == id; });
  if (known == known_.end()) return;
  known->written = false;
  book_.Change([&](RepeatState* state) { TakeBack(known->fingerprint, state); });
}

}  // namespace jankbox
