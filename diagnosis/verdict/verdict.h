// Splits the wall time of an incident into shares that sum to it exactly. Each says what it
// rests on; docs/verdict.md is the reference. Plain values; sealing thread.
#ifndef JANKBOX_DIAGNOSIS_VERDICT_VERDICT_H_
#define JANKBOX_DIAGNOSIS_VERDICT_VERDICT_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "monitors/incident/cpu_shortage.h"
#include "monitors/incident/wait_peer.h"

namespace jankbox {

enum class VerdictCause : uint8_t {
  kRunning,
  kRunnable,
  kLock,
  kDisk,
  kFault,
  kIpc,
  kGc,
  kSleeping,
  kBlocked,
  kUnknown,
};
inline constexpr size_t kVerdictCauses = 10;

// "running", "runnable", …: as in report.proto.
const char* VerdictCauseName(VerdictCause cause);

// The source of a share.
enum class VerdictSource : uint8_t {
  kNothing,      // no source covered this time
  kFtrace,       // the kernel's switches, wake-ups and block requests
  kOwnSwitches,  // the thread's own context switches, by perf
  kSchedstat,    // CPU and run-queue time between two readings
  kThreadState,  // only the thread's state, at each reading or sample
  kHooks,        // the thread's own record of the call that it waited in
  kSystemCall,   // the system call that a reading saw it blocked in
  kFaultCount,   // faults times the measured cost of one
  kCpuStat,      // the time that the process' cgroup was throttled for
  kStealTime,    // the time for which the host of a virtual machine took its CPUs
  kCollector,    // the pauses of the garbage collector that a virtual machine recorded
};

// "ftrace", "perf switches", "schedstat", …
const char* VerdictSourceName(VerdictSource source);

struct VerdictShare {
  VerdictCause cause = VerdictCause::kUnknown;
  VerdictSource source = VerdictSource::kNothing;
  bool estimate = false;
  int32_t owner_tid = 0;  // of the lock; 0: not known
  uint64_t ns = 0;
  // Static texts or null: `words` represent themselves ("waiting for a condition"), `call` is a
  // function that it was in, `on` what that was called for ("a regular file").
  const char* words = nullptr;
  const char* call = nullptr;
  const char* on = nullptr;
  // Null unless they are the reason; they outlive the verdict.
  const WaitPeer* peer = nullptr;         // kIpc, kBlocked
  const CpuShortage* quota = nullptr;     // kRunnable: throttled
  const CpuShortage* overload = nullptr;  // kRunnable: the whole machine had too few CPUs
};

// "in fdatasync on a regular file", "waiting for a condition", "on the CPU".
std::string PhraseOf(const VerdictShare& share);

// True if they differ at most in their time.
bool SameShare(const VerdictShare& a, const VerdictShare& b);
// Adds to the share of `shares` that is the same, or as a new one; nothing for 0 ns.
void AddShare(const VerdictShare& share, std::vector<VerdictShare>* shares);
// Null if there is none.
const VerdictShare* LargestShare(const std::vector<VerdictShare>& shares);

// A part of the incident's time, and what was done in it.
struct VerdictStretch {
  uint64_t from_ns = 0;  // CLOCK_MONOTONIC
  uint64_t to_ns = 0;
  std::vector<VerdictShare> shares;  // as in Verdict; their order in time is not known
};

struct Verdict {
  std::vector<VerdictShare> shares;  // no two the same but for their time
  uint64_t switches = 0;             // times put on a CPU
  // Of `running`, while the thread's own CPU time did not grow: the host of a virtual machine or an
  // interrupt had the CPU, of which the kernel's switches do not tell.
  uint64_t uncounted_ns = 0;
  // When they were: without holes but for the time that the incident was held for. Page faults are
  // in the time that the thread ran.
  std::vector<VerdictStretch> stretches;

  void Add(const VerdictShare& share) { AddShare(share, &shares); }
  uint64_t Of(VerdictCause cause) const;
  uint64_t total_ns() const;
  std::array<uint64_t, kVerdictCauses> ByCause() const;

  // Names of the sources, the one that says most first.
  std::vector<std::string> Sources() const;
};

// Names in the sentence besides the shares; empty if not known.
struct Culprit {
  std::string function;        // of the incident's thread
  std::string owner_name;      // of the thread that held the lock
  std::string owner_function;  // what that was doing
  std::string rivals;          // who had the CPU: "2 threads of this process, 'gcc' of another"
};

// The largest share, and a second one above a fifth, in words: "78 % waiting for a lock held by
// 'Worker-3' (tid 123) in ImageCache::Decode, in Feed::Bind". Empty for an empty verdict.
std::string VerdictSentence(const Verdict& verdict, const Culprit& culprit);

// The cause as the keys of an incident have it: the one with 60 % of the time that is accounted
// for, else "mixed"; "unknown" if nothing is. The machine's load and quotas are others in each run:
// time for which the thread waited for a CPU counts as running if it is most of the time, else not
// at all.
const char* KeyCause(const Verdict& verdict);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_VERDICT_VERDICT_H_
