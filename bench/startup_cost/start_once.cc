// Starts the SDK once, as a fresh program does, on its main thread: start_once FOLDER [--traced].
// Prints the ns of jankbox_start and of the processor time in it.
#include <jankbox/jankbox.h>

#include <cstdio>
#include <cstring>

#include "base/clock.h"
#include "bench/harness/traced_child.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const bool traced = argc > 2 && strcmp(argv[2], "--traced") == 0;
  jankbox_options options{};
  options.size = sizeof(options);
  options.dir = argv[1];
  options.min_free_mib = UINT32_MAX;
  if (traced) {
    jankbox::bench::BeginTraced();
    jankbox_start(&options);
    jankbox::bench::EndTraced();
    jankbox_stop();
    return 0;
  }
  const uint64_t begin_ns = jankbox::MonotonicNs();
  const uint64_t begin_cpu_ns = jankbox::ClockNs(CLOCK_THREAD_CPUTIME_ID);
  const int code = jankbox_start(&options);
  const uint64_t cpu_ns = jankbox::ClockNs(CLOCK_THREAD_CPUTIME_ID) - begin_cpu_ns;
  const uint64_t ns = jankbox::MonotonicNs() - begin_ns;
  if (code != JANKBOX_OK) {
    fprintf(stderr, "%s\n", jankbox_last_error());
    return 1;
  }
  printf("%llu %llu\n", static_cast<unsigned long long>(ns),
         static_cast<unsigned long long>(cpu_ns));
  fflush(stdout);
  jankbox_stop();
  return 0;
}
