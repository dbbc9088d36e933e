// The counters of a device, without the file: which incident goes into which counter, what is to be
// sent, and when an epoch is full. Pure; allocates. docs/formats/counts.md has the rules.
#ifndef JANKBOX_UPLOADER_COUNTS_COUNTERS_H_
#define JANKBOX_UPLOADER_COUNTS_COUNTERS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "report/counts_format.h"
#include "report/report.h"

namespace jankbox {

inline constexpr size_t kFullCounters = 400;  // from here on the next epoch begins once all is sent
inline constexpr size_t kMaxCountedIds = 256;

// What is added to the counters at once: one incident, or several that nobody looked at one by one.
struct CountedIncident {
  std::string id;         // a UUID: what has it is added once
  ReportCounter counter;  // `buckets` follow from the durations
};

// False if what has this id was added before.
bool AddIncident(const CountedIncident& incident, ReportCountBook* book);

// No ring has a note of that incident any more.
void ForgetId(const std::string& id, ReportCountBook* book);

// What the server has not acknowledged.
ReportCounts UnsentCounts(const ReportCountBook& book);

// The incidents of that key, over all versions; empty `key`: no counter.
ReportCounter SumOfKey(const ReportCountBook& book, const std::string& key);

// Whether the numbers fit together: a file may come from anywhere.
bool IsPlausible(const ReportCountBook& book);

}  // namespace jankbox

#endif  // JANKBOX_UPLOADER_COUNTS_COUNTERS_H_
