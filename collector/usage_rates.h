// How much each version of each app was used, and how often it had incidents: the usage of all
// devices, and the counters of those that send usage. Within a transaction of the caller's; blocks
// on the disk.
#ifndef JANKBOX_COLLECTOR_USAGE_RATES_H_
#define JANKBOX_COLLECTOR_USAGE_RATES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "collector/database.h"
#include "report/report.pb.h"

namespace jankbox::collector {

// Sums saturate.
struct UsageSum {
  std::string app;  // "other": of several
  std::string version;
  uint64_t installations = 0;  // different ids; an app may have reset its own
  uint64_t foreground_ms = 0;
  uint64_t sessions = 0;
  uint64_t frames = 0;
  uint64_t messages = 0;
};

struct VersionUsage : UsageSum {
  uint32_t first_day = 0;  // UTC, in days since 1970
  uint32_t last_day = 0;
  uint64_t incidents = 0;
  std::map<proto::Kind, uint64_t> kinds;  // of the incidents
};

struct DayUsage : UsageSum {
  uint32_t day = 0;
};

struct UsageRates {
  static constexpr size_t kMaxDays = 1000;  // rows of `days`

  std::vector<VersionUsage> versions;  // the most used first
  std::vector<DayUsage> days;          // the latest first
  uint64_t without_usage = 0;          // incidents of devices that send no usage of their version
};

Result<UsageRates> QueryUsage(Database* database);

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_USAGE_RATES_H_
