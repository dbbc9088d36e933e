/* A Wayland client with a loop of its own. usage: wayland_loop poll|dispatch
 *   poll      waits for the display and a timer, as toolkits do
 *   dispatch  waits in wl_display_dispatch(); a thread asks it for an answer every 50 ms
 * After 3 s a callback makes a roundtrip while the compositor is stopped. */
#include <pthread.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <wayland-client.h>

#include "tests/monitors/looper/sequences/programs/stalls.h"

enum { kTicks = 100, kStallTick = 60 };

static int ticks;

__attribute__((noinline)) static void on_tick(struct wl_display* display) {
  if (++ticks != kStallTick) return;
  mark_begin();
  pause_peer();
  wl_display_roundtrip(display);
  mark_end();
}

static void run_poll(struct wl_display* display) {
  const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  const struct itimerspec every = {{0, 50000000}, {0, 50000000}};
  timerfd_settime(timer, 0, &every, NULL);
  while (ticks < kTicks) {
    struct pollfd fds[2] = {{wl_display_get_fd(display), POLLIN, 0}, {timer, POLLIN, 0}};
    wl_display_dispatch_pending(display);
    wl_display_flush(display);
    poll(fds, 2, -1);
    if ((fds[0].revents & POLLIN) != 0) wl_display_dispatch(display);
    uint64_t expired;
    if ((fds[1].revents & POLLIN) != 0 && read(timer, &expired, sizeof(expired)) > 0) {
      on_tick(display);
    }
  }
}

static void answered(void* display, struct wl_callback* callback, uint32_t serial) {
  (void)serial;
  wl_callback_destroy(callback);
  on_tick(display);
}
static const struct wl_callback_listener kAnswered = {answered};

static void* ask(void* display) {
  while (1) {
    sleep_ms(50);
    wl_callback_add_listener(wl_display_sync(display), &kAnswered, display);
    wl_display_flush(display);
  }
  return NULL;
}

int main(int argc, char** argv) {
  struct wl_display* display = wl_display_connect(NULL);
  if (display == NULL || argc < 2) return 2;
  if (strcmp(argv[1], "poll") == 0) run_poll(display);
  pthread_t thread;
  if (strcmp(argv[1], "dispatch") == 0 && pthread_create(&thread, NULL, ask, display) == 0) {
    while (ticks < kTicks && wl_display_dispatch(display) != -1) {
    }
  }
  return 0;
}
