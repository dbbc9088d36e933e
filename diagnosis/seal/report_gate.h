// Between an incident and its report: asks the app's listeners, counts repeats, and says whether a
// report is to be written. Every refusal is counted by reason. Sealing thread; touches the disk.
#ifndef JANKBOX_DIAGNOSIS_SEAL_REPORT_GATE_H_
#define JANKBOX_DIAGNOSIS_SEAL_REPORT_GATE_H_

#include <deque>
#include <string>

#include "diagnosis/seal/admit_report.h"
#include "diagnosis/seal/repeat_book.h"
#include "monitors/incident/refusals.h"
#include "report/report.h"

namespace jankbox {

class ReportGate {
 public:
  // `folder` is the report folder; `ask` asks the app's listeners; `refusals` outlives the gate.
  ReportGate(const std::string& folder, const RepeatLimits& limits, RepeatBook::Clock clock,
             AdmitReport ask, Refusals* refusals);

  // Whether `report` of `incident` is to be written. Sets what is known of its repeats, and what
  // listeners add.
  bool Admit(const ReportedIncident& incident, Report* report);

  // The report of incident `id`, admitted last, could not be written.
  void NotWritten(const std::string& id);

 private:
  // An incident that may get another revision.
  struct Known {
    std::string id;
    std::string fingerprint;
    bool written = false;
  };
  static constexpr size_t kMaxKnown = 64;

  bool AdmitRepeat(Report* report);

  const RepeatLimits limits_;
  const AdmitReport ask_;
  Refusals* const refusals_;
  RepeatBook book_;
  std::deque<Known> known_;
};

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SEAL_REPORT_GATE_H_
