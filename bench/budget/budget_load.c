/* A program that keeps Jankbox busy until SIGTERM, or for SECONDS:
 *   budget_load FOLDER LOAD FTRACE RECORD SECONDS
 * FOLDER: of the reports; "-": without Jankbox of its own. LOAD: "stall", 6 s of work every 10 s;
 * "jank", messages of 30 ms at a threshold of 10; "work", 0.8 s of work each second; "half", 150 of
 * 300 ms; "flood", 100,000 calls a second on each of four threads. FTRACE: on or off. RECORD:
 * governed or off. Says its CPU time in seconds at the end. */
#define _GNU_SOURCE
#include <jankbox/jankbox.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kFloodThreads = 4, kFloodCalls = 100, kFloodsASecond = 1000 };

static volatile sig_atomic_t ended;
static double ends_at;
static int wake[2];

static void End(int number) { ended = number; }

static double Clock(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int Goes(void) { return !ended && Clock(CLOCK_MONOTONIC) < ends_at; }

static void Busy(double seconds) {
  const double until = Clock(CLOCK_MONOTONIC) + seconds;
  while (Clock(CLOCK_MONOTONIC) < until) {
  }
}

/* A turn of the loop: `work` seconds, and a wait for a descriptor that nobody writes. */
static void Turn(double work, double pause) {
  struct pollfd wait = {wake[0], POLLIN, 0};
  jankbox_dispatch_begin("draw", 0);
  Busy(work);
  jankbox_dispatch_end();
  poll(&wait, 1, (int)(pause * 1e3));
}

static void* Flood(void* seconds) {
  const uint32_t id = jankbox_method_id("Flood");
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  for (long turn = 0; turn < *(long*)seconds * kFloodsASecond && !ended; ++turn) {
    for (int i = 0; i < kFloodCalls; ++i) {
      jankbox_begin(id);
      jankbox_end(id);
    }
    at.tv_nsec += 1000000000 / kFloodsASecond;
    if (at.tv_nsec >= 1000000000) {
      at.tv_nsec -= 1000000000;
      ++at.tv_sec;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
  }
  return NULL;
}

static void RunFlood(long seconds) {
  pthread_t threads[kFloodThreads];
  for (int i = 0; i < kFloodThreads; ++i) pthread_create(&threads[i], NULL, Flood, &seconds);
  for (int i = 0; i < kFloodThreads; ++i) pthread_join(threads[i], NULL);
}

static int Start(char** argv) {
  jankbox_options options;
  memset(&options, 0, sizeof(options));
  options.size = sizeof(options);
  options.dir = argv[1];
  options.ftrace = strcmp(argv[3], "on") == 0 ? JANKBOX_FTRACE_ON : JANKBOX_FTRACE_OFF;
  options.record = strcmp(argv[4], "off") == 0 ? JANKBOX_RECORD_OFF : JANKBOX_RECORD_GOVERNED;
  if (strcmp(argv[2], "jank") == 0) options.slow_message_ms = 10;
  return jankbox_start(&options) == JANKBOX_OK;
}

int main(int argc, char** argv) {
  if (argc != 6 || pipe(wake) != 0) return 2;
  signal(SIGTERM, End);
  ends_at = Clock(CLOCK_MONOTONIC) + atof(argv[5]);
  if (strcmp(argv[1], "-") != 0 && !Start(argv)) return 1;
  const char* load = argv[2];
  if (strcmp(load, "flood") == 0) RunFlood(atol(argv[5]));
  while (Goes()) {
    if (strcmp(load, "stall") == 0) Turn(6, 4);
    if (strcmp(load, "jank") == 0) Turn(0.03, 0.005);
    if (strcmp(load, "work") == 0) Turn(0.8, 0.2);
    if (strcmp(load, "half") == 0) Turn(0.15, 0.15);
  }
  printf("%.6f\n", Clock(CLOCK_PROCESS_CPUTIME_ID));
  fflush(stdout);
  jankbox_snapshot("end");
  jankbox_flush(5000);
  jankbox_stop();
  return 0;
}
