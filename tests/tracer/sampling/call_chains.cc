#include "tests/tracer/sampling/call_chains.h"

#include <alloca.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__clang__)
#define CHAIN __attribute__((noinline, visibility("default")))
#else
#define CHAIN __attribute__((noinline, noclone, visibility("default")))
#endif

namespace {

// Keeps a variable frame alive and calls from becoming tail calls.
void Touch(void* memory) { __asm__ volatile("" : : "r"(memory) : "memory"); }

// A sanitizer's interceptors are between a caller and libc, if nothing proves the frames.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WAIT_IN_READ(fd, into, size) syscall(SYS_read, fd, into, size)
#define WAIT_IN_POLL(fds, count, timeout_ms) syscall(SYS_poll, fds, count, timeout_ms)
#else
#define WAIT_IN_READ(fd, into, size) read(fd, into, size)
#define WAIT_IN_POLL(fds, count, timeout_ms) poll(fds, count, timeout_ms)
#endif

volatile ssize_t g_sink;  // what a read returned, so that it is kept

}  // namespace

extern "C" {

CHAIN uint64_t BusyInner(const std::atomic<bool>* stop) {
  uint64_t sum = 1;
  while (!stop->load(std::memory_order_relaxed)) {
    for (int i = 0; i < 1000; ++i) {
      sum = sum * 6364136223846793005u + 1;
      __asm__ volatile("" : "+r"(sum));
    }
  }
  return sum;
}

CHAIN uint64_t BusyOuter(const std::atomic<bool>* stop) {
  const uint64_t sum = BusyInner(stop);
  Touch(nullptr);
  return sum + 1;
}

CHAIN void SleepInner(size_t frame_bytes, int ms) {
  void* frame = alloca(frame_bytes);
  Touch(frame);
  timespec left{ms / 1000, ms % 1000 * 1000000L};
  nanosleep(&left, nullptr);
  Touch(frame);
}

CHAIN void SleepOuter(size_t frame_bytes, int ms) {
  SleepInner(frame_bytes, ms);
  Touch(nullptr);
}

CHAIN void LockInner(size_t frame_bytes, pthread_mutex_t* mutex) {
  void* frame = alloca(frame_bytes);
  Touch(frame);
  pthread_mutex_lock(mutex);
  pthread_mutex_unlock(mutex);
  Touch(frame);
}

CHAIN void LockOuter(size_t frame_bytes, pthread_mutex_t* mutex) {
  LockInner(frame_bytes, mutex);
  Touch(nullptr);
}

CHAIN void ReadInner(size_t frame_bytes, int fd) {
  void* frame = alloca(frame_bytes);
  Touch(frame);
  char byte = 0;
  g_sink = WAIT_IN_READ(fd, &byte, 1);
  Touch(frame);
}

CHAIN void ReadOuter(size_t frame_bytes, int fd) {
  ReadInner(frame_bytes, fd);
  Touch(nullptr);
}

CHAIN void PollInner(size_t frame_bytes, int fd, int timeout_ms) {
  void* frame = alloca(frame_bytes);
  Touch(frame);
  pollfd watched{fd, POLLIN, 0};
  g_sink = WAIT_IN_POLL(&watched, 1, timeout_ms);
  Touch(frame);
}

CHAIN void PollOuter(size_t frame_bytes, int fd, int timeout_ms) {
  PollInner(frame_bytes, fd, timeout_ms);
  Touch(nullptr);
}

CHAIN void RecurseThenRead(int depth, int fd) {
  if (depth == 0) {
    char byte = 0;
    g_sink = WAIT_IN_READ(fd, &byte, 1);
  } else {
    RecurseThenRead(depth - 1, fd);
  }
  Touch(&depth);
}

CHAIN void ReadThroughPointerOuter(size_t frame_bytes, int fd) {
  void (*volatile inner)(size_t, int) = ReadInner;
  inner(frame_bytes, fd);
  Touch(nullptr);
}

CHAIN void StaleInner(int fd) {
  ReadInner(64, fd);
  Touch(nullptr);
}

CHAIN void StaleMiddle(int fd) {
  char padding[512];
  Touch(padding);
  StaleInner(fd);
  Touch(padding);
}

CHAIN void StaleOuter(int readable_fd, int blocking_fd) {
  StaleMiddle(readable_fd);
  ReadThroughPointerOuter(8192, blocking_fd);
  Touch(nullptr);
}
}
