// Names of the system calls that Jankbox makes; others come out as their number. Pure.
#ifndef JANKBOX_BENCH_HARNESS_SYSCALL_NAMES_H_
#define JANKBOX_BENCH_HARNESS_SYSCALL_NAMES_H_

#include <cstdint>
#include <string>

namespace jankbox::bench {

std::string SyscallName(uint64_t number);

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_HARNESS_SYSCALL_NAMES_H_
