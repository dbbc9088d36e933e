#include "tracer/unwind/safe_memory.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace jankbox {
namespace {

// A page with text at its end, and one after it that cannot be read.
const char* TextBeforeAHole() {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto* pages = static_cast<char*>(
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  munmap(pages + page, page);
  memcpy(pages + page - 8, "the end.", 8);
  return pages + page - 8;
}

// 0 if all is as it should be, else the line.
int CheckReads() {
  const char* text = TextBeforeAHole();
  const auto address = reinterpret_cast<uintptr_t>(text);
  char copy[16] = {};
  errno = 7777;
  if (ReadOwnMemory(address, copy, 8) != 8 || memcmp(copy, "the end.", 8) != 0) return __LINE__;
  if (ReadOwnMemory(address, copy, 16) != 8) return __LINE__;
  if (ReadOwnMemory(address + 8, copy, 8) != 0) return __LINE__;
  if (ReadOwnMemory(UINT64_MAX - 4, copy, 8) != 0) return __LINE__;
  return errno == 7777 ? 0 : __LINE__;
}

bool RefuseProcessVmReadv() {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {sizeof(rules) / sizeof(rules[0]), rules};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(SafeMemory, ReadsAsFarAsThereIsMemoryAndLeavesErrnoAlone) { EXPECT_EQ(CheckReads(), 0); }

TEST(SafeMemory, ReadsWhereProcessVmReadvIsRefused) {
  const pid_t child = fork();
  if (child == 0) _exit(RefuseProcessVmReadv() ? CheckReads() : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the line of this file";
}

}  // namespace
}  // namespace jankbox
