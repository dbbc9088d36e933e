#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>

#include "base/clock.h"
#include "base/file.h"
#include "tools/doctor/machine_check.h"

namespace jankbox::tools {
namespace {

// The oldest kernel whose perf, memfd and O_TMPFILE behave as the recorder expects.
constexpr int kOldestMajor = 4;
constexpr int kOldestMinor = 14;

MachineCheck CheckKernel() {
  MachineCheck check{.name = "kernel", .essential = true};
  check.why = "the recorder is tested on Linux 4.14 and later";
  utsname name{};
  uname(&name);
  check.found = std::string(name.sysname) + " " + name.release + " " + name.machine;
  int major = 0;
  int minor = 0;
  const bool parsed = sscanf(name.release, "%d.%d", &major, &minor) == 2;
  if (!parsed || major < kOldestMajor || (major == kOldestMajor && minor < kOldestMinor)) {
    check.state = CheckState::kLimited;
    check.fix = "use a newer kernel";
  }
  return check;
}

MachineCheck CheckPageSize() {
  MachineCheck check{.name = "page_size", .essential = true};
  check.why = "ring files and libraries support pages of 4 to 64 KiB";
  const long bytes = sysconf(_SC_PAGESIZE);
  check.found = std::to_string(bytes) + " bytes";
  if (bytes < 4096 || bytes > 65536) {
    check.state = CheckState::kMissing;
    check.fix = "use a kernel with pages of 4, 16 or 64 KiB";
  }
  return check;
}

bool HasWord(const std::string& text, const std::string& word) {
  return (" " + text + " ").find(" " + word + " ") != std::string::npos;
}

MachineCheck CheckClockSource() {
  MachineCheck check{.name = "clock_source"};
  check.why = "event timestamps come from the CPU's counter if it is reliable";
  std::string source =
      ReadProcFile("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  if (!source.empty() && source.back() == '\n') source.pop_back();
  bool trusted = true;
  check.found = source.empty() ? "unknown kernel clock source" : "kernel uses " + source;
#if defined(__x86_64__)
  const std::string cpu = ReadProcFile("/proc/cpuinfo", 1 << 16);
  const size_t at = cpu.find("\nflags");
  const std::string flags =
      at == std::string::npos ? "" : cpu.substr(at, cpu.find('\n', at + 1) - at);
  const bool invariant = HasWord(flags, "constant_tsc") && HasWord(flags, "nonstop_tsc");
  trusted = invariant && source == "tsc";
  check.found += invariant ? ", TSC is invariant" : ", TSC is not invariant";
#endif
  if (!trusted) {
    check.state = CheckState::kLimited;
    check.found += ": clock_gettime is used, which doubles the cost of an event";
    check.fix = "boot with clocksource=tsc if the hardware's counter is reliable";
  }
  return check;
}

MachineCheck CheckBoottime() {
  MachineCheck check{.name = "boottime", .essential = true};
  check.why = "traces use CLOCK_BOOTTIME; its distance to MONOTONIC shows suspends";
  timespec ts{};
  if (clock_gettime(CLOCK_BOOTTIME, &ts) != 0) {
    check.state = CheckState::kMissing;
    check.found = "CLOCK_BOOTTIME cannot be read";
    check.fix = "use a newer kernel, or a sandbox that permits clock_gettime";
    return check;
  }
  const uint64_t monotonic_ns = MonotonicNs();
  const int64_t ahead_ns = static_cast<int64_t>(BoottimeNs() - monotonic_ns);
  char text[96];
  snprintf(text, sizeof(text), "readable, %.3f s ahead of MONOTONIC",
           static_cast<double>(ahead_ns) / kNsPerSecond);
  check.found = text;
  return check;
}

}  // namespace

std::vector<MachineCheck> CheckSystem() {
  return {CheckKernel(), CheckPageSize(), CheckClockSource(), CheckBoottime()};
}

}  // namespace jankbox::tools
