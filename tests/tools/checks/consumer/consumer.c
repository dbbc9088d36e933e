/* A C program that starts Jankbox, records a slice and seals a report into the folder of its first
 * argument. */
#include <jankbox/jankbox.h>
#include <jankbox/trace.h>
#include <stdio.h>

static void Work(void) {
  JANKBOX_TRACE("Work");
  jankbox_counter(jankbox_method_id("items"), 3);
}

int main(int argc, char** argv) {
  jankbox_options options = {.size = sizeof(options)};
  if (argc != 2) return 2;
  options.dir = argv[1];
  options.min_free_mib = UINT32_MAX;
  if (jankbox_start(&options) != JANKBOX_OK) {
    fprintf(stderr, "jankbox_start: %s\n", jankbox_last_error());
    return 1;
  }
  jankbox_dispatch_begin("consumer", 0);
  Work();
  jankbox_dispatch_end();
  if (jankbox_snapshot("consumer") != JANKBOX_OK || jankbox_flush(10000) != JANKBOX_OK) {
    fprintf(stderr, "no report: %s\n", jankbox_last_error());
    return 1;
  }
  jankbox_stop();
  return 0;
}
