// Distinguishes one process from every other one, also after its pid was given to another:
// boot id, pid, start time. Cold; reads /proc.
#ifndef JANKBOX_TRACER_RING_PROCESS_IDENTITY_H_
#define JANKBOX_TRACER_RING_PROCESS_IDENTITY_H_

#include <cstdint>
#include <string>

namespace jankbox {

struct ProcessIdentity {
  std::string boot_id;  // /proc/sys/kernel/random/boot_id; empty if not readable
  int pid = 0;
  uint64_t start_ticks = 0;  // field 22 of /proc/PID/stat; 0 if there is no such process
};

ProcessIdentity CurrentProcess();

// Start time of process `pid` now; 0 if there is none. A zombie is no process.
uint64_t ProcessStartTicks(int pid);

// True while the process that `identity` names lives on this machine.
bool IsAlive(const ProcessIdentity& identity);

// File name of the program, at most 63 bytes.
std::string CurrentProcessName();

}  // namespace jankbox

#endif  // JANKBOX_TRACER_RING_PROCESS_IDENTITY_H_
