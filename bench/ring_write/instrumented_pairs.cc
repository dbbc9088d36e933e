// Compiled with -finstrument-functions, twice: into the bench, with Jankbox's functions, and into a
// library whose hooks are empty. JANKBOX_BENCH_ENTRY names the kernel.
#include <cstdint>

namespace {

__attribute__((noinline)) void Method() { asm volatile("" : : : "memory"); }

}  // namespace

extern "C" __attribute__((noinline, no_instrument_function, visibility("default"))) void
JANKBOX_BENCH_ENTRY(uint32_t passes) {
  for (uint32_t i = 0; i < passes; ++i) Method();
}
