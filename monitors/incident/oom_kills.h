// The kernel's count of low-memory kills in the cgroup of this process: the recorder notes it, and
// whoever finds the ring of the dead process compares. Reads /proc and /sys; allocates.
#ifndef JANKBOX_MONITORS_INCIDENT_OOM_KILLS_H_
#define JANKBOX_MONITORS_INCIDENT_OOM_KILLS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace jankbox {

// The file that counts them for the cgroup that `membership` (/proc/self/cgroup) names: of cgroup
// v2, else of v1's memory controller. Empty if there is none.
std::string OomFileOf(std::string_view membership);

// The value of "oom_kill" in that file; none if it cannot be read or has no such line.
std::optional<uint64_t> ReadOomKills(const std::string& file);

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_INCIDENT_OOM_KILLS_H_
