// The app's listeners: who they are, and the asking. One registry a process, which outlives starts
// and stops. Adding and removing: any thread, waits for a call in progress. Asking: sealing thread.
#ifndef JANKBOX_SDK_API_INCIDENT_LISTENERS_H_
#define JANKBOX_SDK_API_INCIDENT_LISTENERS_H_

#include <array>
#include <mutex>
#include <string>

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

  bool Add(jankbox_incident_listener listener, void* context);
  void Remove(jankbox_incident_listener listener, void* context);

  // Tells every listener of the incident and its report. Takes their attributes into the report.
  // False if one of them vetoed it.
  bool Ask(const ReportedIncident& reported, Report* report);

  // For the report that `incident` stands for; false outside Ask().
  bool AddAttribute(const jankbox_incident* incident, const char* key, const char* value);

 private:
  struct Entry {
    jankbox_incident_listener listener = nullptr;
    void* context = nullptr;
  };

  std::recursive_mutex mutex_;  // a listener may remove itself
  std::array<Entry, kMaxListeners> entries_;
  const jankbox_incident* asked_ = nullptr;
  Report* report_ = nullptr;
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_API_INCIDENT_LISTENERS_H_
