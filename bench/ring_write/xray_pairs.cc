// Clang's XRay in flight-recorder mode: a program of its own, because only clang instruments so.
// Keeps every call, however short. Prints one JSON object: ns of a pair, and its ratio to two reads
// of the counter in the same rounds.
#include <xray/xray_interface.h>
#include <xray/xray_log_interface.h>

#include <cstdio>
#include <cstdlib>

#include "bench/harness/opaque.h"
#include "bench/harness/rounds.h"
#include "tracer/clock/tick_clock.h"

namespace jankbox::bench {
namespace {

[[clang::xray_always_instrument]] __attribute__((noinline)) void Method() { UnknownCode(); }

JANKBOX_BENCH_KERNEL void XrayPairs(uint32_t passes) {
  for (uint32_t i = 0; i < passes; ++i) Method();
}

JANKBOX_BENCH_KERNEL void RdtscPairs(uint32_t passes) {
  for (uint32_t i = 0; i < passes; ++i) {
    Use(ReadRawCounter());
    UnknownCode();
    Use(ReadRawCounter());
    UnknownCode();
  }
}

bool StartXray() {
  constexpr char kConfig[] =
      "buffer_size=1048576 buffer_max=16 func_duration_threshold_us=0 no_file_flush=true";
  return __xray_log_select_mode("xray-fdr") == XRAY_REGISTRATION_OK &&
         __xray_log_init_mode("xray-fdr", kConfig) == XRAY_LOG_INITIALIZED &&
         __xray_patch() == XRayPatchingStatus::SUCCESS;
}

int Main(int argc, char** argv) {
  if (!StartXray()) {
    fprintf(stderr, "XRay's flight recorder does not start\n");
    return 1;
  }
  Rounds rounds;
  rounds.Add("2rdtsc", RdtscPairs);
  rounds.Add("xray", XrayPairs);
  rounds.Run(argc > 1 ? static_cast<uint32_t>(atoi(argv[1])) : 500, 200, nullptr);
  const KernelTiming xray = rounds.Timings()[1];
  printf("{\"min_ns\":%.2f,\"median_ns\":%.2f,\"vs_2rdtsc\":%.4f}\n", xray.min_ns, xray.median_ns,
         rounds.Ratio("xray", "2rdtsc"));
  return 0;
}

}  // namespace
}  // namespace jankbox::bench

int main(int argc, char** argv) { return jankbox::bench::Main(argc, argv); }
