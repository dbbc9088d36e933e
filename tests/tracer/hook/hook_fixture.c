// A library as an app might load it: calls libc directly, and through addresses in static tables.
#include <poll.h>
#include <unistd.h>

typedef pid_t (*PidFunction)(void);

static PidFunction const kReadOnlyTable[2] = {getppid, getpgrp};
static PidFunction writable_table[1] = {getppid};

extern int jankbox_absent_function(int) __attribute__((weak));

int fixture_poll(struct pollfd* fds, unsigned long count, int timeout_ms) {
  int ready = poll(fds, count, timeout_ms);
  return ready;
}

int fixture_close(int fd) {
  int result = close(fd);
  return result;
}

pid_t fixture_getppid(void) {
  pid_t parent = getppid();
  return parent;
}

pid_t fixture_table_getppid(int which) {
  PidFunction const volatile* entry = which == 0 ? &kReadOnlyTable[0] : &writable_table[0];
  return (*entry)();
}

int fixture_absent(void) { return jankbox_absent_function ? jankbox_absent_function(1) : -1; }
