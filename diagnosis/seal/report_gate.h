// Between an incident and its report: asks the app's listeners, counts repeats, and says whether a
// report is to be written. Every refusal is counted by reason. Sealing thread; touches the disk.
#ifndef JANKBOX_DIAGNOSIS_SEAL_REPORT_GATE_H_
#define JANKBOX_DIAGNOSIS_SEAL_REPORT_GATE_H_

#include <deque>
#include <map>
#include <optional>
#include <string>

#include "diagnosis/seal/admit_report.h"
#include "diagnosis/seal/repeat_book.h"
#include "diagnosis/seal/seal_request.h"
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

  // What is to be counted for `request` if it is not looked at; null if it may say something new,
  // as far as its kind and its name tell: the last incident of these that was looked at was a
  // repeat, and was not much shorter.
  std::optional<Report> KnownRepeat(const SealRequest& request) const;
  // It was counted as that.
  void Spared(const Report& repeat);

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

  // Of one kind and name: the last incident that was looked at.
  struct Repeat {
    Report counted;  // what is counted of the next one
    uint64_t longest_ns = 0;
    bool is_repeat = false;  // its cause was known: refused as that, or the same one twice in a row
  };
  static constexpr size_t kMaxRepeats = 16;

  bool AdmitRepeat(Report* report);
  void NoteRepeat(const Report& report, bool admitted);

  const RepeatLimits limits_;
  const AdmitReport ask_;
  Refusals* const refusals_;
  RepeatBook book_;
  std::deque<Known> known_;
  std::deque<Repeat> repeats_;
  std::map<std::string, uint64_t> spared_;  // by fingerprint; not yet in the book
};

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SEAL_REPORT_GATE_H_
