/* LTTng-UST's side of the comparison, a module of its own: loading it is what starts LTTng's
 * threads in the bench's process, after the session is there. */
#include <stdint.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "bench/ring_write/lttng_tracepoints.inc"

/* 1 once the session records both. */
int jankbox_bench_lttng_enabled(void) {
  return lttng_ust_tracepoint_enabled(jankbox_bench, begin) &&
         lttng_ust_tracepoint_enabled(jankbox_bench, end);
}

__attribute__((noinline)) void jankbox_bench_lttng_pairs(uint32_t passes) {
  for (uint32_t i = 0; i < passes; ++i) {
    lttng_ust_tracepoint(jankbox_bench, begin, (int)i, 1);
    __asm__ volatile("" : : : "memory");
    lttng_ust_tracepoint(jankbox_bench, end, (int)i, 1);
    __asm__ volatile("" : : : "memory");
  }
}
