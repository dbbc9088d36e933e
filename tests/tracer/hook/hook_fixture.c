// A library as an app might load it: calls libc directly, and through addresses in code and in
// static tables. Without headers, so that it compiles for machines whose libc is not here.
struct pollfd;
int poll(struct pollfd* fds, unsigned long count, int timeout_ms);
int close(int fd);
long write(int fd, const void* bytes, unsigned long count);
int getppid(void);
int getpgrp(void);

typedef int (*PidFunction)(void);

static PidFunction const kReadOnlyTable[2] = {getppid, getpgrp};
static PidFunction writable_table[1] = {getppid};
static const char* volatile relative_table[2] = {"what RELR tables hold", "and nothing else"};

extern int jankbox_absent_function(int) __attribute__((weak));

int fixture_poll(struct pollfd* fds, unsigned long count, int timeout_ms) {
  int ready = poll(fds, count, timeout_ms);
  return ready;
}

long fixture_write(int fd, const void* bytes, unsigned long count) {
  long written = write(fd, bytes, count);
  return written;
}

int fixture_close(int fd) {
  int result = close(fd);
  return result;
}

int fixture_getppid(void) {
  int parent = getppid();
  return parent;
}

PidFunction fixture_address_of_getppid(void) { return getppid; }

int fixture_table_getppid(int which) {
  PidFunction const volatile* entry = which == 0 ? &kReadOnlyTable[0] : &writable_table[0];
  return (*entry)();
}

const char* fixture_text(int which) { return relative_table[which]; }

int fixture_absent(void) { return jankbox_absent_function ? jankbox_absent_function(1) : -1; }
