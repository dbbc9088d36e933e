#include "diagnosis/seal/report_gate.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/clock.h"

namespace jankbox {
namespace {

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
    answer = first_revision ? CountIncident(limits_, known->fingerprint, report->duration_ns,
                                            severe, RandomBitsOf(report->id), state)
                            : ReviseIncident(limits_, known->fingerprint, report->duration_ns,
                                             severe, known->written, state);
  });
  report->repeat_count = answer.count;
  report->losses.suppressed_incidents = answer.unreported;
  if (answer.exemplar == Exemplar::kNone) {
    // A second refusal of one incident is none.
    if (first_revision) refusals_->Add(answer.reason, MonotonicNs());
    return false;
  }
  report->exemplar = ExemplarName(answer.exemplar);
  known->written = true;
  return true;
}

void ReportGate::NotWritten(const std::string& id) {
  const auto known = std::find_if(known_.begin(), known_.end(),
                                  [&](const Known& incident) { return incident.id == id; });
  if (known == known_.end()) return;
  known->written = false;
  book_.Change([&](RepeatState* state) { TakeBack(known->fingerprint, state); });
}

}  // namespace jankbox
