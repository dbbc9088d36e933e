// How often incidents happened, by their fingerprint: from the counts of a report folder, or from a
// collector, which has those of all devices. Blocks on the disk or the network; trusts nothing that
// it reads. Threads: one.
#ifndef JANKBOX_TOOLS_REPORTS_INCIDENT_COUNTS_H_
#define JANKBOX_TOOLS_REPORTS_INCIDENT_COUNTS_H_

#include <cstdint>
#include <map>
#include <string>

namespace jankbox::tools {

struct IncidentCount {
  uint64_t incidents = 0;
  double total_ms = 0;
  double worst_ms = 0;
};

using IncidentCounts = std::map<std::string, IncidentCount>;  // by fingerprint

// Those of `place`, a folder or a URL; of a report's file those of its folder. Empty if there are
// none: an older SDK or collector.
IncidentCounts ReadIncidentCounts(const std::string& place);

// "40 incidents of 3 causes, 12.3 s in all"; "" without any.
std::string CountsInBrief(const IncidentCounts& counts);

// "40 so far, 12.3 s in all, the longest 912 ms".
std::string CountText(const IncidentCount& count);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_REPORTS_INCIDENT_COUNTS_H_
