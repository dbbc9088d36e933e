#include "tools/attach/target_rights.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/file.h"
#include "base/scoped_fd.h"
#include "tools/attach/target_modules.h"
#include "tools/terminal/terminal.h"
#include "tracer/unwind/safe_memory.h"

namespace jankbox::tools {
namespace {

std::string FolderOf(int32_t pid) { return "/proc/" + std::to_string(pid); }

// The number after `label` of a text in the form of /proc/PID/status.
int NumberAfter(const std::string& text, const char* label, int otherwise) {
  const size_t at = text.find(label);
  return at == std::string::npos ? otherwise : atoi(text.c_str() + at + strlen(label));
}

int ReadSysctl(const char* path, int otherwise) {
  const std::string text = ReadProcFile(path, 32);
  return text.empty() ? otherwise : atoi(text.c_str());
}

std::string UserName(uid_t uid) {
  const passwd* entry = getpwuid(uid);  // NOLINT(concurrency-mt-unsafe): the only thread
  return entry != nullptr ? entry->pw_name : std::to_string(uid);
}

bool Is32Bit(int32_t pid) {
  const ScopedFd program(open((FolderOf(pid) + "/exe").c_str(), O_RDONLY | O_CLOEXEC));
  unsigned char ident[EI_NIDENT];
  return program.valid() && read(program.get(), ident, sizeof(ident)) == sizeof(ident) &&
         memcmp(ident, ELFMAG, SELFMAG) == 0 && ident[EI_CLASS] == ELFCLASS32;
}

// Of this process.
bool HasCapability(int capability) {
  const std::string status = ReadProcFile("/proc/self/status", 8192);
  constexpr std::string_view kLabel = "\nCapEff:\t";
  const size_t at = status.find(kLabel);
  if (at == std::string::npos) return false;
  return (strtoull(status.c_str() + at + kLabel.size(), nullptr, 16) >> capability & 1) != 0;
}

int TryPerf(int32_t tid) {
  perf_event_attr attributes = {};
  attributes.size = sizeof(attributes);
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_DUMMY;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  const ScopedFd event(static_cast<int>(
      syscall(SYS_perf_event_open, &attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC)));
  return event.valid() ? 0 : errno;
}

std::string Process(const TargetFacts& facts) { return "process " + std::to_string(facts.pid); }

// Root of a container often has not all capabilities.
std::string MissingCapability(const char* capability) {
  return std::string("root has no ") + capability + " here: run jankbox with that capability";
}

std::string WhyNoMemory(const TargetFacts& facts) {
  if (facts.is_root && !facts.may_ptrace) return MissingCapability("CAP_SYS_PTRACE");
  if (!facts.same_user) {
    const std::string same = facts.user == "root" ? "" : " or as " + facts.user;
    return Process(facts) + " belongs to " + facts.user + ": run jankbox as root" + same;
  }
  if (facts.ptrace_scope > 0) {
    const std::string setting = "kernel.yama.ptrace_scope is " + std::to_string(facts.ptrace_scope);
    if (facts.ptrace_scope > 2) {
      return setting + ": until the next boot no process may read another one";
    }
    return setting + ": run jankbox as root, or: sudo sysctl kernel.yama.ptrace_scope=0";
  }
  return "the kernel protects " + Process(facts) +
         " (it changed its user, or has rights of its own): run jankbox as root";
}

std::string WhyNoPerf(const TargetFacts& facts) {
  if (facts.perf_errno == ENOSYS) return "this kernel has no perf (CONFIG_PERF_EVENTS)";
  const bool refused = facts.perf_errno == EACCES || facts.perf_errno == EPERM;
  if (refused && facts.perf_paranoid > 2 && facts.is_root) return MissingCapability("CAP_PERFMON");
  if (refused && facts.perf_paranoid > 2) {
    return "kernel.perf_event_paranoid is " + std::to_string(facts.perf_paranoid) +
           ": run jankbox as root, or: sudo sysctl kernel.perf_event_paranoid=2";
  }
  return "the kernel does not permit perf (" + std::string(strerror(facts.perf_errno)) +
         (refused ? "): a container's seccomp filter may be the reason" : ")");
}

}  // namespace

std::string NameOfProcess(int32_t pid) {
  char path[PATH_MAX];
  const ssize_t size = readlink((FolderOf(pid) + "/exe").c_str(), path, sizeof(path));
  if (size > 0) {
    std::string_view program(path, static_cast<size_t>(size));
    if (program.ends_with(kDeletedFile)) program.remove_suffix(kDeletedFile.size());
    return std::string(BaseName(program));
  }
  std::string name = ReadProcFile(FolderOf(pid) + "/comm", 64);
  while (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

TargetFacts ReadTargetFacts(int32_t pid) {
  TargetFacts facts;
  facts.pid = pid;
  facts.is_this = pid == getpid();
  const std::string folder = FolderOf(pid);
  const std::string status = ReadProcFile(folder + "/status", 8192);
  struct stat owner {};
  facts.exists = !status.empty() && stat(folder.c_str(), &owner) == 0;
  if (!facts.exists) return facts;
  facts.process = NumberAfter(status, "\nTgid:", pid);
  facts.has_ended = status.find("\nState:\tZ") != std::string::npos ||
                    status.find("\nState:\tX") != std::string::npos;
  facts.is_kernel_thread = NumberAfter(status, "\nKthread:", -1) == 1 ||
                           (status.find("\nVmSize:") == std::string::npos && !facts.has_ended);
  const int uid = NumberAfter(status, "\nUid:", 0);
  facts.user = UserName(static_cast<uid_t>(uid));
  facts.same_user = static_cast<uid_t>(uid) == geteuid();
  facts.is_32_bit = Is32Bit(pid);
  for (const MappedFile& file : ParseMappings(ReadProcFile(folder + "/maps", 8 << 20))) {
    const std::string name(BaseName(file.path));
    if (file.executable && name.starts_with("libjankbox")) facts.jankbox_library = name;
    char byte = 0;
    if (file.executable) facts.memory_readable |= ReadRecordedMemory(file.start, &byte, 1) == 1;
  }
  facts.memory_readable &= !ReadProcFile(folder + "/syscall", 256).empty();
  facts.is_root = geteuid() == 0;
  facts.may_ptrace = HasCapability(CAP_SYS_PTRACE);
  facts.ptrace_scope = ReadSysctl("/proc/sys/kernel/yama/ptrace_scope", -1);
  facts.perf_errno = TryPerf(pid);
  facts.perf_paranoid = ReadSysctl("/proc/sys/kernel/perf_event_paranoid", 0);
  return facts;
}

std::string WhyNotAttach(const TargetFacts& facts) {
  if (!facts.exists) return "there is no " + Process(facts);
  if (facts.is_this) return "jankbox cannot watch itself";
  if (facts.process != facts.pid) {
    const std::string process = std::to_string(facts.process);
    return std::to_string(facts.pid) + " is a thread of process " + process + ": jankbox attach " +
           process + " --thread " + std::to_string(facts.pid);
  }
  if (facts.has_ended) return Process(facts) + " has ended";
  if (facts.is_kernel_thread) return Process(facts) + " is a thread of the kernel";
  if (facts.is_32_bit && sizeof(void*) == 8) {
    return Process(facts) + " is a 32-bit program: jankbox attach watches 64-bit programs only";
  }
  if (!facts.memory_readable) return WhyNoMemory(facts);
  if (facts.perf_errno != 0) return WhyNoPerf(facts);
  if (!facts.jankbox_library.empty()) {
    return Process(facts) + " runs with Jankbox already (" + facts.jankbox_library +
           "): it writes reports itself";
  }
  return "";
}

}  // namespace jankbox::tools
