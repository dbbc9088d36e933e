/* The stalls that the programs of this folder plant, 1 s each. A stall marks itself by asking for
 * the file /stall/begin and /stall/end, which the recorder sees. Header-only. */
#ifndef JANKBOX_TESTS_MONITORS_LOOPER_SEQUENCES_PROGRAMS_STALLS_H_
#define JANKBOX_TESTS_MONITORS_LOOPER_SEQUENCES_PROGRAMS_STALLS_H_

#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static inline void sleep_ms(long ms) {
  struct timespec left = {ms / 1000, ms % 1000 * 1000000};
  while (nanosleep(&left, &left) != 0) {
  }
}

static inline void mark_begin(void) { (void)!access("/stall/begin", F_OK); }
static inline void mark_end(void) { (void)!access("/stall/end", F_OK); }

static inline void be_busy(void) {
  struct timespec now, begin;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < 1000);
}

/* Waits in poll() for the output of a child, and reads it. */
__attribute__((noinline, unused)) static void wait_for_child(void) {
  FILE* child = popen("sleep 1; echo done", "r");
  struct pollfd output = {fileno(child), POLLIN, 0};
  char line[16];
  while (poll(&output, 1, -1) <= 0 || fgets(line, sizeof(line), child) != NULL) {
  }
  pclose(child);
}

/* The process $STALL_PEER, a server of this one, stops for a second. */
static inline void pause_peer(void) {
  const char* peer = getenv("STALL_PEER");
  if (peer == NULL) exit(3);
  const pid_t pid = (pid_t)atoi(peer);
  kill(pid, SIGSTOP);
  sleep_ms(20);
  if (fork() == 0) {
    sleep_ms(1000);
    kill(pid, SIGCONT);
    _exit(0);
  }
}

/* The kinds that need no library; 0 if `kind` is none of them. */
__attribute__((unused)) static int stall(const char* kind) {
  mark_begin();
  if (strcmp(kind, "busy") == 0) {
    be_busy();
  } else if (strcmp(kind, "sleep") == 0) {
    sleep_ms(1000);
  } else if (strcmp(kind, "pipe") == 0) {
    wait_for_child();
  } else if (strcmp(kind, "resolver") == 0) { /* one that does not answer: record_waits.py */
    struct addrinfo* found = NULL;
    if (getaddrinfo("slow.example", "80", NULL, &found) == 0) freeaddrinfo(found);
  } else {
    return 0;
  }
  mark_end();
  return 1;
}

#endif
