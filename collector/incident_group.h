// Reports of one group key (report/group_key.h) taken together: how often, how bad, since when.
// Reports without one (manual snapshots of old versions) are grouped by kind. Called under the
// store's reader lock.
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
  uint64_t count = 0;
  uint64_t worst_ns = 0;
  uint64_t total_ns = 0;  // saturates
  uint64_t p50_ns = 0;    // nearest rank
  int64_t first_received_ms = 0;
  int64_t last_received_ms = 0;
  std::set<std::string> processes;  // at most kMaxProcesses
  proto::Report worst;
};

inline constexpr size_t kMaxGroups = 1000;

// All groups, the most time lost first, at most kMaxGroups. Reads in one transaction.
Result<std::vector<IncidentGroup>> QueryGroups(Database* database);

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_INCIDENT_GROUP_H_
