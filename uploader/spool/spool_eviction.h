// Which reports must go: a pure function of the accounts, the limits and what is about to be
// written. Threads: any; allocates.
#ifndef JANKBOX_UPLOADER_SPOOL_SPOOL_EVICTION_H_
#define JANKBOX_UPLOADER_SPOOL_SPOOL_EVICTION_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "uploader/spool/spool_state.h"

namespace jankbox {

struct SpoolLimits {
  uint64_t max_bytes = 10u << 20;
  uint64_t max_reports = 64;
  uint64_t max_age_s = 7 * 86'400;
  uint64_t min_free_bytes = 64u << 20;   // of the file system, for everybody else
  uint64_t max_upload_bytes = 1u << 20;  // a report
};

// The contents of the folder besides the records, and the report that is to be added.
// Every number is below 2^60 (a file counts as 2^40 bytes at most).
struct SpoolDemand {
  uint64_t free_bytes = uint64_t{1} << 59;
  uint64_t in_flight_count = 0;
  uint64_t in_flight_bytes = 0;
  uint64_t quarantined_bytes = 0;
  uint64_t incoming_count = 0;
  uint64_t incoming_bytes = 0;
  std::string replaces_id;  // its record goes automatically
};

struct SpoolEviction {
  size_t record = 0;  // index
  SpoolFate why = SpoolFate::kKept;
};

struct EvictionPlan {
  bool fits = true;
  bool drop_quarantined = false;
  std::vector<SpoolEviction> evictions;  // oldest first
};

// Too old ones always go. Then quarantined files, then the oldest, until the limits are met. If
// they cannot be met, `fits` is false and nothing is given up for it.
EvictionPlan PlanEvictions(const std::vector<SpoolRecord>& records, const SpoolLimits& limits,
                           const SpoolDemand& demand);

}  // namespace jankbox

#endif  // JANKBOX_UPLOADER_SPOOL_SPOOL_EVICTION_H_
