#include "bench/harness/syscall_names.h"

#include <sys/syscall.h>

namespace jankbox::bench {
namespace {

struct Name {
  long number;
  const char* text;
};

constexpr Name kNames[] = {
    {SYS_read, "read"},
    {SYS_write, "write"},
    {SYS_close, "close"},
    {SYS_fstat, "fstat"},
    {SYS_newfstatat, "newfstatat"},
    {SYS_statfs, "statfs"},
    {SYS_openat, "openat"},
    {SYS_mkdirat, "mkdirat"},
    {SYS_unlinkat, "unlinkat"},
    {SYS_readlinkat, "readlinkat"},
    {SYS_faccessat, "faccessat"},
    {SYS_getdents64, "getdents64"},
    {SYS_lseek, "lseek"},
    {SYS_flock, "flock"},
    {SYS_fallocate, "fallocate"},
    {SYS_ftruncate, "ftruncate"},
    {SYS_mmap, "mmap"},
    {SYS_munmap, "munmap"},
    {SYS_mprotect, "mprotect"},
    {SYS_madvise, "madvise"},
    {SYS_brk, "brk"},
    {SYS_futex, "futex"},
    {SYS_clone, "clone"},
    {SYS_clone3, "clone3"},
    {SYS_rt_sigaction, "rt_sigaction"},
    {SYS_rt_sigprocmask, "rt_sigprocmask"},
    {SYS_sigaltstack, "sigaltstack"},
    {SYS_getpid, "getpid"},
    {SYS_gettid, "gettid"},
    {SYS_geteuid, "geteuid"},
    {SYS_getuid, "getuid"},
    {SYS_getcwd, "getcwd"},
    {SYS_getrandom, "getrandom"},
    {SYS_prctl, "prctl"},
    {SYS_uname, "uname"},
    {SYS_sysinfo, "sysinfo"},
    {SYS_clock_gettime, "clock_gettime"},
    {SYS_membarrier, "membarrier"},
    {SYS_perf_event_open, "perf_event_open"},
    {SYS_pipe2, "pipe2"},
    {SYS_eventfd2, "eventfd2"},
    {SYS_socket, "socket"},
    {SYS_connect, "connect"},
    {SYS_sched_getaffinity, "sched_getaffinity"},
#if defined(SYS_open)
    {SYS_open, "open"},
    {SYS_stat, "stat"},
    {SYS_lstat, "lstat"},
    {SYS_access, "access"},
    {SYS_mkdir, "mkdir"},
    {SYS_rmdir, "rmdir"},
    {SYS_unlink, "unlink"},
    {SYS_readlink, "readlink"},
    {SYS_rename, "rename"},
#endif
};

}  // namespace

std::string SyscallName(uint64_t number) {
  for (const Name& name : kNames) {
    if (static_cast<uint64_t>(name.number) == number) return name.text;
  }
  return "system call " + std::to_string(number);
}

}  // namespace jankbox::bench
