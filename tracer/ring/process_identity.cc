#include "tracer/ring/process_identity.h"

#include <unistd.h>

#include <cstdlib>

#include "base/file.h"

namespace jankbox {
namespace {

std::string BootId() {
  std::string id = ReadProcFile("/proc/sys/kernel/random/boot_id", 64);
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

}  // namespace

uint64_t ProcessStartTicks(int pid) {
  const std::string stat = ReadProcFile("/proc/" + std::to_string(pid) + "/stat", 4096);
  // The name may contain spaces and parentheses: fields count from the last ')'. State is field 3.
  size_t at = stat.rfind(')');
  if (at == std::string::npos || at + 2 >= stat.size()) return 0;
  const char state = stat[at + 2];
  if (state == 'Z' || state == 'X') return 0;
  at += 1;
  for (int field = 3; field <= 22; ++field) {
    at = stat.find(' ', at);
    if (at == std::string::npos) return 0;
    ++at;
  }
  return strtoull(stat.c_str() + at, nullptr, 10);
}

ProcessIdentity CurrentProcess() {
  const int pid = getpid();
  return {BootId(), pid, ProcessStartTicks(pid)};
}

bool IsAlive(const ProcessIdentity& identity) {
  if (identity.boot_id != BootId()) return false;
  const uint64_t start = ProcessStartTicks(identity.pid);
  return start != 0 && start == identity.start_ticks;
}

std::string CurrentProcessName() {
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof(path));
  std::string name(n > 0 ? BaseName(std::string_view(path, static_cast<size_t>(n))) : "unknown");
  return name.substr(0, 63);
}

}  // namespace jankbox
