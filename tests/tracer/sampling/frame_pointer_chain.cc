// Built with frame pointers, as some distributions build everything: even frames of a fixed size
// are found by rbp, and calls through pointers and the PLT are the rule.
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/tracer/sampling/call_chains.h"

namespace {

void Touch(void* memory) { __asm__ volatile("" : : "r"(memory) : "memory"); }

}  // namespace

extern "C" {

__attribute__((noinline, visibility("default"))) void FixedInner(int depth, int fd) {
  char frame[200];
  Touch(frame);
  if (depth > 0) {
    void (*volatile again)(int, int) = FixedInner;
    again(depth - 1, fd);
  } else {
    syscall(SYS_read, fd, frame, 1);
  }
  Touch(frame);
}

__attribute__((noinline, visibility("default"))) void FixedOuter(int depth, int fd) {
  void (*volatile inner)(int, int) = FixedInner;
  inner(depth, fd);
  Touch(nullptr);
}
}
