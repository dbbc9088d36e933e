// Why a thread that was able to run did not get a CPU: its cgroup's quota, a host that took the
// virtual machine's CPUs, or a machine with too much to do. Pure functions; sealing thread;
// allocates.
#ifndef JANKBOX_DIAGNOSIS_VERDICT_CPU_CAUSES_H_
#define JANKBOX_DIAGNOSIS_VERDICT_CPU_CAUSES_H_

#include <string>

#include "diagnosis/verdict/verdict.h"
#include "monitors/incident/cpu_shortage.h"

namespace jankbox {

// Divides the runnable shares: the time that the quota throttled the cgroup for, as far as the
// thread was able to run or its own CPU time did not grow, and the rest, which an overloaded
// machine explains. The quota's part is an estimate: the counter is that of the whole cgroup. So is
// the time that a host took: the kernel counts it neither as run nor as waited for, and it explains
// time off the CPU without a wait. `shortage` outlives the verdict.
void ExplainRunnable(const CpuShortage& shortage, Verdict* verdict);

// The numbers of an overloaded machine as a sentence for the report; for a kernel that does not
// count them, that they are missing. Empty if the thread hardly waited for a CPU.
std::string CpuNote(const CpuShortage& shortage, const Verdict& verdict);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_VERDICT_CPU_CAUSES_H_
