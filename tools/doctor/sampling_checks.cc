#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "base/clock.h"
#include "base/file.h"
#include "base/own_thread.h"
#include "base/scoped_fd.h"
#include "tools/doctor/machine_check.h"
#include "tools/doctor/perf_trial.h"

namespace jankbox::tools {
namespace {

// One perf ring with one 64 KiB stack needs this much; it is the kernel's default.
constexpr long kWantedMlockKib = 516;

std::string OneLine(const std::string& path) {
  std::string text = ReadProcFile(path, 4096);
  return text.substr(0, text.find('\n'));
}

MachineCheck CheckTracefs() {
  MachineCheck check{.name = "tracefs"};
  check.why = "with it traces contain kernel scheduling, aligned by a marker";
  for (const char* root : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
    const std::string marker = JoinPath(root, "trace_marker");
    if (access(marker.c_str(), W_OK) == 0) {
      check.found = marker + " is writable";
      return check;
    }
    struct stat st {};
    if (stat(marker.c_str(), &st) == 0 || access(root, X_OK) != 0) {
      if (access(root, F_OK) != 0) continue;
      check.state = CheckState::kLimited;
      check.found = std::string(root) + " is not open to this user";
      check.fix = std::string("sudo chmod a+rx ") + root + " && sudo chmod a+w " + marker;
      return check;
    }
  }
  check.state = CheckState::kLimited;
  check.found = "not mounted";
  check.fix = "sudo mount -t tracefs tracefs /sys/kernel/tracing";
  return check;
}

MachineCheck CheckPerf() {
  MachineCheck check{.name = "perf"};
  check.why = "samples the stack of a running UI thread without a signal";
  const std::string paranoid = OneLine("/proc/sys/kernel/perf_event_paranoid");
  const std::string setting = " (perf_event_paranoid " + (paranoid.empty() ? "?" : paranoid) + ")";
  const Result<int> samples = TryPerfSampling();
  if (samples.ok() && samples.value() > 0) {
    check.found = std::to_string(samples.value()) + " samples with registers and stack" + setting;
    return check;
  }
  check.state = CheckState::kLimited;
  check.found = (samples.ok() ? "opens, but gave no sample" : samples.status().message()) +
                setting + ": a signal is used for threads that run";
  check.fix = atoi(paranoid.c_str()) > 2
                  ? "sudo sysctl kernel.perf_event_paranoid=2"
                  : "allow perf_event_open in the container or its seccomp profile";
  return check;
}

MachineCheck CheckPerfMemory() {
  MachineCheck check{.name = "perf_mlock"};
  check.why = "perf's buffer is locked memory, which is limited per user";
  const std::string kib = OneLine("/proc/sys/kernel/perf_event_mlock_kb");
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  const bool unlimited = geteuid() == 0 || limit.rlim_cur == RLIM_INFINITY;
  check.found = (kib.empty() ? "unknown limit" : kib + " KiB for each CPU") + " and " +
                (unlimited ? "no further limit"
                           : std::to_string(limit.rlim_cur / 1024) + " KiB more (ulimit -l)");
  if (!unlimited && !kib.empty() && atol(kib.c_str()) < kWantedMlockKib) {
    check.state = CheckState::kLimited;
    check.fix = "sudo sysctl kernel.perf_event_mlock_kb=" + std::to_string(kWantedMlockKib);
  }
  return check;
}

uint64_t ScheduledNs() {
  return strtoull(ReadProcFile("/proc/thread-self/schedstat", 256).c_str(), nullptr, 10);
}

MachineCheck CheckSchedstat() {
  MachineCheck check{.name = "schedstat"};
  check.why = "distinguishes running from waiting for a CPU in every verdict";
  const uint64_t before = ScheduledNs();
  const uint64_t end = ClockNs(CLOCK_THREAD_CPUTIME_ID) + 5 * kNsPerMs;
  while (ClockNs(CLOCK_THREAD_CPUTIME_ID) < end) {
  }
  usleep(0);  // the kernel updates the count when the thread is switched
  if (ScheduledNs() > before) {
    check.found = "/proc/thread-self/schedstat counts";
    return check;
  }
  check.state = CheckState::kLimited;
  check.found = before == 0 ? "/proc/thread-self/schedstat does not exist" : "it does not count";
  check.fix = "use a kernel with CONFIG_SCHED_INFO; without it verdicts use CPU clocks";
  return check;
}

// A thread blocks in read(); its system call must be seen from outside.
bool SeesBlockedThread() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  ScopedFd reader(ends[0]);
  ScopedFd writer(ends[1]);
  std::atomic<int> tid{0};
  std::thread blocked([&] {
    tid.store(CurrentTid(), std::memory_order_release);
    char byte;
    (void)!read(reader.get(), &byte, 1);
  });
  bool seen = false;
  for (int attempt = 0; attempt < 200 && !seen; ++attempt) {
    const std::string path = "/proc/self/task/" + std::to_string(tid.load()) + "/syscall";
    const std::string text = ReadProcFile(path, 512);
    seen = !text.empty() && text[0] >= '0' && text[0] <= '9' && atoi(text.c_str()) == SYS_read &&
           text.find("0x") != std::string::npos;
    if (!seen) usleep(1000);
  }
  writer.Reset();
  blocked.join();
  return seen;
}

MachineCheck CheckTaskSyscall() {
  MachineCheck check{.name = "task_syscall"};
  check.why = "shows the system call and the address at which a blocked UI thread waits";
  if (SeesBlockedThread()) {
    check.found = "/proc/self/task/TID/syscall is readable";
    return check;
  }
  check.state = CheckState::kLimited;
  check.found = "/proc/self/task/TID/syscall is empty: blocked threads are sampled with a signal";
  check.fix = "mount /proc without masking in the container (kernel: CONFIG_HAVE_ARCH_TRACEHOOK)";
  return check;
}

}  // namespace

std::vector<MachineCheck> CheckSampling() {
  return {CheckTracefs(), CheckPerf(), CheckPerfMemory(), CheckSchedstat(), CheckTaskSyscall()};
}

}  // namespace jankbox::tools
