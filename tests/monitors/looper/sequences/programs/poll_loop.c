/* The smallest loops of programs. usage: poll_loop KIND [STALL]
 *   two_lines        main() polls 40 times for 30 ms, then 8 times for 1 s at another line
 *   copies           one poll() in the source, three in the program; a stall between two of them
 *   zero_then_block  polls with timeout 0, then blocks at a second call
 *   subset           waits for a terminal's stand-in and a server, and a callback for the server
 *   pace             polls 20 times, then polls with timeout 0 and sleeps 900 ms in a second poll
 *   start            polls 5 times in the start, then a function called there is the loop
 *   phases           a function polls 20 times and returns; a deeper one is the loop
 *   modal            waits for a terminal's stand-in and a server; a callback for the first of them
 * STALL is one of stalls.h, planted after 2 s of copies and zero_then_block. */
#include <stdint.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include "tests/monitors/looper/sequences/programs/stalls.h"

enum { kTicks = 60, kStallTick = 40 };

static int start_timer(long ms) {
  const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  const struct itimerspec every = {{0, ms * 1000000}, {0, ms * 1000000}};
  timerfd_settime(timer, 0, &every, NULL);
  return timer;
}

static void take_tick(int timer) {
  uint64_t expired;
  (void)!read(timer, &expired, sizeof(expired));
}

static void run_two_lines(struct pollfd* fds) {
  for (int i = 0; i < 40; ++i) poll(fds + 1, 1, 30);
  for (int i = 0; i < 8; ++i) poll(fds + 1, 1, 1000);
}

/* The only poll() of run_copies(). */
static inline __attribute__((always_inline)) void wait_and_take(struct pollfd* fds, int timeout) {
  if (poll(fds, 2, timeout) > 0 && (fds[0].revents & POLLIN) != 0) take_tick(fds[0].fd);
}

__attribute__((noinline)) static void run_copies(struct pollfd* fds, const char* kind) {
  for (int tick = 0; tick < kTicks; ++tick) {
    if (tick % 4 == 1) {
      wait_and_take(fds, 20);
      stall("none");
    } else if (tick > kStallTick) {
      wait_and_take(fds, 900);
      take_tick(fds[0].fd);
    } else {
      wait_and_take(fds, 100);
    }
    if (tick == kStallTick) stall(kind);
  }
}

static void run_zero_then_block(struct pollfd* fds, const char* kind) {
  for (int tick = 0; tick < kTicks; ++tick) {
    if (poll(fds, 2, 0) == 0) poll(fds, 2, -1);
    take_tick(fds[0].fd);
    if (tick == kStallTick) stall(kind);
  }
}

static void run_pace(struct pollfd* fds) {
  for (int i = 0; i < 20; ++i) poll(fds, 2, 30);
  for (int i = 0; i < 6; ++i) {
    poll(fds, 2, 0);
    poll(NULL, 0, 900);
  }
}

/* Fills the caller's buffer, so that it has a frame. */
static inline __attribute__((always_inline)) void use(char* buffer, int byte, size_t bytes) {
  memset(buffer, byte, bytes);
  __asm__ volatile("" : : "r"(buffer) : "memory");
}

__attribute__((noinline)) static void run_slow_loop(struct pollfd* quiet) {
  char deep[512];
  use(deep, 1, sizeof(deep));
  for (int i = 0; i < 6; ++i) poll(quiet, 1, 900);
}

static void run_start(struct pollfd* server, struct pollfd* quiet) {
  for (int i = 0; i < 5; ++i) poll(server, 1, 30);
  run_slow_loop(quiet);
}

__attribute__((noinline)) static void run_first_phase(struct pollfd* server) {
  char input[160];
  use(input, 2, sizeof(input));
  for (int i = 0; i < 20; ++i) poll(server, 1, 30);
}

/* The only poll() of run_modal(). */
__attribute__((noinline)) static int wait_for(struct pollfd* fds, nfds_t count, int timeout) {
  const int ready = poll(fds, count, timeout);
  return ready < 0 ? 0 : ready;
}

__attribute__((noinline)) static int ask_user(struct pollfd* user) {
  int answers = 0;
  for (int i = 0; i < 6; ++i) answers += wait_for(user, 1, 900);
  return answers;
}

static void run_modal(int user, int server) {
  struct pollfd fds[2] = {{user, POLLIN, 0}, {server, POLLIN, 0}};
  int ready = 0;
  for (int i = 0; i < 25; ++i) ready += wait_for(fds, 2, 30);
  if (ready + ask_user(fds) == 0) wait_for(fds, 2, 30);
}

/* The server answers after a second. */
static void ask_server(int server) {
  mark_begin();
  (void)!write(server, "?", 1);
  struct pollfd answer = {server, POLLIN, 0};
  while (poll(&answer, 1, -1) <= 0) {
  }
  char byte;
  (void)!read(server, &byte, 1);
  mark_end();
}

static void run_subset(struct pollfd* fds) {
  for (int tick = 0; tick < kTicks; ++tick) {
    poll(fds, 2, -1);
    take_tick(fds[0].fd);
    if (tick == kStallTick) ask_server(fds[1].fd);
  }
}

static int start_server(void) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) exit(2);
  if (fork() == 0) {
    char byte;
    close(ends[0]);
    while (read(ends[1], &byte, 1) == 1) {
      sleep_ms(1000);
      (void)!write(ends[1], "!", 1);
    }
    _exit(0);
  }
  close(ends[1]);
  return ends[0];
}

/* A descriptor that never becomes readable. */
static int open_quiet(void) {
  int ends[2];
  return pipe(ends) == 0 ? ends[0] : -1;
}

int main(int argc, char** argv) {
  const char* loop = argc > 1 ? argv[1] : "";
  const char* kind = argc > 2 ? argv[2] : "none";
  struct pollfd fds[2] = {{start_timer(50), POLLIN, 0}, {start_server(), POLLIN, 0}};
  if (strcmp(loop, "two_lines") == 0) run_two_lines(fds);
  if (strcmp(loop, "copies") == 0) run_copies(fds, kind);
  if (strcmp(loop, "zero_then_block") == 0) run_zero_then_block(fds, kind);
  if (strcmp(loop, "subset") == 0) run_subset(fds);
  struct pollfd quiet = {open_quiet(), POLLIN, 0};
  if (strcmp(loop, "pace") == 0) run_pace(fds);
  if (strcmp(loop, "start") == 0) run_start(fds + 1, &quiet);
  if (strcmp(loop, "phases") == 0) {
    run_first_phase(fds + 1);
    run_slow_loop(&quiet);
  }
  if (strcmp(loop, "modal") == 0) run_modal(quiet.fd, fds[1].fd);
  return 0;
}
