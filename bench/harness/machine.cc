#include "bench/harness/machine.h"

#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>

#include "base/file.h"

namespace jankbox::bench {
namespace {

// Returns the text after `key` and its separator on the first line of `text` that begins with it.
std::string ValueOf(const std::string& text, const std::string& key, char separator) {
  size_t line = 0;
  while (line < text.size()) {
    const size_t end = std::min(text.find('\n', line), text.size());
    if (text.compare(line, key.size(), key) == 0) {
      size_t at = text.find(separator, line);
      if (at == std::string::npos || at >= end) return "";
      ++at;
      while (at < end && (text[at] == ' ' || text[at] == '\t' || text[at] == '"')) ++at;
      size_t last = end;
      while (last > at && (text[last - 1] == '"' || text[last - 1] == ' ')) --last;
      return text.substr(at, last - at);
    }
    line = end + 1;
  }
  return "";
}

std::string FirstLine(const std::string& path) {
  const std::string text = ReadProcFile(path, 256);
  return text.substr(0, text.find('\n'));
}

std::string Compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

}  // namespace

std::string UtcNow() {
  const time_t now = time(nullptr);
  tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

Json DescribeMachine() {
  const std::string cpuinfo = ReadProcFile("/proc/cpuinfo");
  struct utsname kernel {};
  uname(&kernel);
  struct sysinfo memory {};
  sysinfo(&memory);
  std::string cpu = ValueOf(cpuinfo, "model name", ':');
  if (cpu.empty()) cpu = ValueOf(cpuinfo, "CPU part", ':');
  Json machine;
  machine["cpu"] = cpu.empty() ? kernel.machine : cpu;
  machine["cores"] = sysconf(_SC_NPROCESSORS_ONLN);
  machine["memory_mib"] = (static_cast<uint64_t>(memory.totalram) * memory.mem_unit) >> 20;
  machine["virtual"] = cpuinfo.find(" hypervisor") != std::string::npos;
  machine["os"] = ValueOf(ReadProcFile("/etc/os-release"), "PRETTY_NAME", '=');
  machine["kernel"] = kernel.release;
  machine["clocksource"] =
      FirstLine("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  machine["compiler"] = Compiler();
  machine["date"] = UtcNow();
  machine["load_average_1min"] = strtod(FirstLine("/proc/loadavg").c_str(), nullptr);
  return machine;
}

}  // namespace jankbox::bench
