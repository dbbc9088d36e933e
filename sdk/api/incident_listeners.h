// The app's listeners: who they are, and the asking. One registry a process, which outlives starts
// and stops. Adding and removing: any thread, waits for a call in progress. Asking: sealing thread.
#ifndef JANKBOX_SDK_API_INCIDENT_LISTENERS_H_
#define JANKBOX_SDK_API_INCIDENT_LISTENERS_H_

#include <array>
#include <cstdint>
#include <string>

#include "base/mutex.h"
#include "base/status.h"
#include "diagnosis/seal/admit_report.h"
#include "jankbox/incident.h"
#include "report/report.h"

namespace jankbox {

class IncidentListeners {
 public:
  static constexpr size_t kMaxListeners = 16;
  static constexpr size_t kMaxAttributes = 32;
  static constexpr size_t kMaxKeyBytes = 64;
  static constexpr size_t kMaxValueBytes = 256;

  static IncidentListeners& Get();

  // The same pair is added once only.
  Status Add(jankbox_incident_listener listener, void* context);
  void Remove(jankbox_incident_listener listener, void* context);

  bool empty() EXCLUDES(mutex_);

  // Calls every listener with the incident and its report. Takes their attributes into the report.
  // False if one of them vetoed it.
  bool Ask(const ReportedIncident& reported, Report* report);

  // In a forked child: what a thread of the parent had locked or was calling nobody ends here.
  void OnForkInChild();

  // For the report that `incident` represents, during Ask().
  Status AddAttribute(const jankbox_incident* incident, const char* key, const char* value);

 private:
  bool AskHere(const ReportedIncident& reported, Report* report);
  struct Entry {
    bool operator==(const Entry&) const = default;

    jankbox_incident_listener listener = nullptr;
    void* context = nullptr;
  };

  // The incident that attributes are taken for; null: none.
  void Announce(const jankbox_incident* incident, Report* report) EXCLUDES(mutex_);
  // The listener at `index`, as the one that is being called; none there: an empty entry.
  Entry BeginCall(size_t index) EXCLUDES(mutex_);
  void EndCall() EXCLUDES(mutex_);

  Mutex asking_;  // one call of Ask() at a time
  Mutex mutex_;   // never owned while a listener runs: it may add and remove listeners
  CondVar call_ended_;
  std::array<Entry, kMaxListeners> entries_ GUARDED_BY(mutex_);
  Entry called_ GUARDED_BY(mutex_);             // empty: none runs
  int32_t calling_tid_ GUARDED_BY(mutex_) = 0;  // of the thread that it runs on
  const jankbox_incident* asked_ GUARDED_BY(mutex_) = nullptr;
  Report* report_ GUARDED_BY(mutex_) PT_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_API_INCIDENT_LISTENERS_H_
