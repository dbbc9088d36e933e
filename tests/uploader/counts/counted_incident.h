// An incident to count.
#ifndef JANKBOX_TESTS_UPLOADER_COUNTS_COUNTED_INCIDENT_H_
#define JANKBOX_TESTS_UPLOADER_COUNTS_COUNTED_INCIDENT_H_

#include <string>

#include "base/clock.h"
#include "base/uuid.h"
#include "uploader/counts/counters.h"

namespace jankbox {

inline CountedIncident Incident(const std::string& key, uint64_t ms = 100,
                                const std::string& version = "1.0") {
  CountedIncident incident;
  incident.id = NewUuid(1);
  incident.counter.version = version;
  incident.counter.key = key;
  incident.counter.incidents = 1;
  incident.counter.total_ns = incident.counter.max_ns = ms * kNsPerMs;
  incident.counter.kind = ReportKind::kSlowMessage;
  incident.counter.app = "Gallery";
  incident.counter.cause = "lock";
  incident.counter.message = "Feed.bind";
  incident.counter.blamed_function = "Feed::Bind";
  return incident;
}

}  // namespace jankbox

#endif  // JANKBOX_TESTS_UPLOADER_COUNTS_COUNTED_INCIDENT_H_
