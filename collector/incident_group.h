// Incidents of one group key (report/group_key.h) taken together: how often, how bad, since when.
// How often and how bad the devices' counters say (collector/count_sums.h); reports of devices
// that send none count as one incident each. Reports without a group key (manual snapshots of old
// versions) are grouped by kind. Called within a transaction of the store's reader.
#ifndef JANKBOX_COLLECTOR_INCIDENT_GROUP_H_
#define JANKBOX_COLLECTOR_INCIDENT_GROUP_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "collector/database.h"
#include "report/report.pb.h"

namespace jankbox::collector {

struct IncidentGroup {
  static constexpr size_t kMaxProcesses = 20;

  std::string key;
  uint64_t incidents = 0;  // this and total_ns saturate
  uint64_t reports = 0;
  uint64_t worst_ns = 0;
  uint64_t total_ns = 0;
  uint64_t p50_ns = 0;  // of counters to 12 %, else the nearest rank
  int64_t first_received_ms = 0;
  int64_t last_received_ms = 0;
  std::set<std::string> processes;  // at most kMaxProcesses
  proto::Report worst;              // without any report: what the counter says of its incidents
};

inline constexpr size_t kMaxGroups = 1000;

// All groups, the most time lost first, at most kMaxGroups.
Result<std::vector<IncidentGroup>> QueryGroups(Database* database);

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_INCIDENT_GROUP_H_
