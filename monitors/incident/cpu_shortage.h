// How much CPU time was withheld from the process in a stretch of time, and why: by the quota of
// its cgroup (cpu.stat), by the host of a virtual machine (/proc/stat), or by a machine with more
// to do than CPUs (/proc/pressure/cpu, /proc/uptime). CpuAccount keeps the counters of the last
// seconds, and no descriptor. Watcher thread; allocates.
#ifndef JANKBOX_MONITORS_INCIDENT_CPU_SHORTAGE_H_
#define JANKBOX_MONITORS_INCIDENT_CPU_SHORTAGE_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace jankbox {

// Of one stretch of time.
struct CpuShortage {
  bool known = false;           // the counters were read in it
  uint64_t throttled_ns = 0;    // by the quota: wall time, at most
  uint32_t quota_permille = 0;  // of one CPU; 0: there is no quota
  char cgroup[96] = {};    // its name, cut, without ids of containers and users: "background.slice"
  uint64_t stolen_ns = 0;  // by the host, of all CPUs; 0: none, or not known
  bool pressure_known = false;    // the kernel has /proc/pressure/cpu
  uint32_t waiting_permille = 0;  // of the time, some task of the machine waited for a CPU
  bool idle_known = false;        // /proc/uptime can be read
  uint32_t idle_permille = 0;     // of the CPUs' time

  // Tasks waited for a CPU for most of the time, and no CPU was idle meanwhile: neither a quota nor
  // an affinity kept them waiting.
  bool overloaded() const;
};

inline constexpr char kStolenPhrase[] =
    "without its virtual CPU, which the host of this machine had taken";
inline constexpr char kOverloadPhrase[] = "waiting for a CPU of an overloaded machine";

// "throttled by the CPU quota of cgroup x.slice (20 % of one CPU)".
std::string QuotaPhrase(const CpuShortage& shortage);

class CpuAccount {
 public:
  // `root`, which outlives this, is in front of every path: a test's folder.
  explicit CpuAccount(const char* root = "") : root_(root) {}

  // Finds the tightest quota among the process' cgroup and those around it. Once a second. One that
  // was lifted or made looser is kept for some 10 s more: what it caused may not be over yet.
  // Read() finds a new one of the process' own cgroup at once, by the throttled periods.
  void FindQuota();

  // Reads the counters, at most every 40 ms, and every 90 ms if `sparing`: the budget is used up.
  // `active`: a watched thread does something; if none does, only a quota is followed.
  void Read(uint64_t now_ns, bool active, bool sparing = false);

  // CLOCK_MONOTONIC. Counters are read in steps: up to 100 ms around the stretch may count.
  CpuShortage Between(uint64_t from_ns, uint64_t to_ns) const;

 private:
  static constexpr size_t kMaxPoints = 256;  // beyond it every second one is dropped
  static constexpr uint64_t kIntervalNs = 40'000'000;
  static constexpr uint64_t kSparingIntervalNs = 90'000'000;
  static constexpr uint64_t kNearNs = 100'000'000;  // counters this far outside of a stretch do
  static constexpr size_t kMaxPath = 512;
  static constexpr uint32_t kFindsAfterLift = 10;

  using Text = char[3072];

  struct Quota {
    uint32_t permille = 0;  // of one CPU; 0: none
    uint64_t period_ns = 0;
  };
  struct Point {
    uint64_t time_ns = 0;
    uint64_t throttled_ns = 0;  // of all CPUs
    uint64_t throttled_periods = 0;
    uint64_t stolen_ns = 0;   // of all CPUs, in steps of 10 ms
    uint64_t waiting_ns = 0;  // /proc/pressure/cpu
    uint64_t idle_ns = 0;     // of all CPUs
    bool throttled_known = false;
    bool pressure_known = false;
    bool idle_known = false;
  };

  // Reads the start of a file as long as it `works`: until a reading fails, unless only because the
  // process is out of descriptors.
  bool ReadFile(const char* mount, const char* folder, const char* name, bool* works,
                Text* text) const;
  // The steal time of all CPUs.
  uint64_t ReadStolen(uint64_t now_ns);
  bool ReadGroup(const char* cgroup, const char* name, Text* text) const;
  Quota QuotaOf(const char* cgroup) const;
  void Use(const char* own, const char* cgroup, const Quota& quota);

  const char* const root_;
  bool unified_ = false;        // cgroup v2
  const char* mount_ = "";      // of the hierarchy with the controller "cpu"
  char cgroup_[kMaxPath] = {};  // with the quota, or the process' own; empty: not looked for yet
  char own_[kMaxPath] = {};     // the process', when the quota was found
  Quota quota_;
  uint32_t finds_since_lifted_ = 0;
  // False once the file could not be read.
  bool stat_works_ = true;
  bool proc_stat_works_ = true;
  bool pressure_works_ = true;
  bool uptime_works_ = true;
  uint64_t cpus_ = 0;
  // /proc/stat is slow on machines of many CPUs: once a second, until a CPU was stolen.
  uint64_t next_stolen_ns_ = 0;
  uint64_t stolen_ns_ = 0;
  Point points_[kMaxPoints];  // oldest first
  size_t count_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_INCIDENT_CPU_SHORTAGE_H_
