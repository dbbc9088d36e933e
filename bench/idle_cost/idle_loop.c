/* A program that does next to nothing, with Jankbox as an app has it:
 *   idle_loop FOLDER KIND TICK_MS front|back
 * FOLDER: of the reports. KIND: "poll", a loop of its own; "gtk", a GTK
 * window. TICK_MS: a timer of the loop; 0: none. A watchdog's thread instead of Jankbox: FOLDER
 * "post" posts a message to the loop every 500 ms and waits for it, "look" looks at a counter every
 * 50 ms. */
#define _GNU_SOURCE
#include <gtk/gtk.h>
#include <jankbox/jankbox.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static atomic_uint_fast64_t handled;
static int messages = -1;

static void* Post(void* unused) {
  pthread_setname_np(pthread_self(), "watchdog");
  for (uint64_t posted = 0;;) {
    const uint64_t one = 1;
    if (write(messages, &one, sizeof(one)) != sizeof(one)) return unused;
    ++posted;
    usleep(500 * 1000);
    if (atomic_load(&handled) < posted) fputs("the loop hangs\n", stderr);
  }
}

static void* Look(void* unused) {
  pthread_setname_np(pthread_self(), "watchdog");
  for (uint64_t seen = 0; seen != UINT64_MAX; seen = atomic_load(&handled)) usleep(50 * 1000);
  return unused;
}

static void Watch(const char* how, const char* where) {
  pthread_t thread;
  jankbox_options options;
  if (strcmp(how, "post") == 0 || strcmp(how, "look") == 0) {
    pthread_create(&thread, NULL, strcmp(how, "post") == 0 ? Post : Look, NULL);
    return;
  }
  memset(&options, 0, sizeof(options));
  options.size = sizeof(options);
  options.dir = how;
  if (jankbox_start(&options) != JANKBOX_OK) {
    fprintf(stderr, "%s\n", jankbox_last_error());
    exit(1);
  }
  jankbox_watch_this_thread("main");
  jankbox_set_foreground(strcmp(where, "front") == 0);
}

static void Handle(void) {
  uint64_t posted = 0;
  jankbox_dispatch_begin("tick", 0);
  if (read(messages, &posted, sizeof(posted)) < 0) posted = 0;
  atomic_fetch_add(&handled, posted);
  jankbox_dispatch_end();
}

static gboolean Tick(gpointer unused) {
  (void)unused;
  return G_SOURCE_CONTINUE;
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const int tick_ms = atoi(argv[3]);
  messages = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (strcmp(argv[2], "gtk") == 0) {
    if (!gtk_init_check(NULL, NULL)) return 3;
    GtkWidget* window = gtk_window_new(GTK_WINDOW_TOPLEVEL);
    gtk_container_add(GTK_CONTAINER(window), gtk_label_new("idle"));
    gtk_widget_show_all(window);
    if (tick_ms != 0) g_timeout_add((guint)tick_ms, Tick, NULL);
    Watch(argv[1], argv[4]);
    gtk_main();
    return 0;
  }
  Watch(argv[1], argv[4]);
  for (;;) {
    struct pollfd wait = {messages, POLLIN, 0};
    poll(&wait, 1, tick_ms != 0 ? tick_ms : -1);
    Handle();
  }
}
