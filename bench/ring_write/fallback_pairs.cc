// The clock_gettime fallback against two reads of that clock in the same rounds: fallback_pairs
// ROUNDS. Prints one JSON object.
#include <cstdio>
#include <cstdlib>

#include "bench/harness/rounds.h"
#include "bench/ring_write/fallback_ring.h"
#include "bench/ring_write/kernels.h"

int main(int argc, char** argv) {
  using namespace jankbox::bench;
  const FallbackRing ring;
  Rounds rounds;
  rounds.Add("2clock", ClockGettimePairs);
  rounds.Add("fallback", FallbackPairs);
  rounds.Run(argc > 1 ? static_cast<uint32_t>(atoi(argv[1])) : 500, 200, nullptr);
  const KernelTiming fallback = rounds.Timings()[1];
  printf("{\"min_ns\":%.2f,\"median_ns\":%.2f,\"vs_2clock\":%.4f}\n", fallback.min_ns,
         fallback.median_ns, rounds.Ratio("fallback", "2clock"));
  return 0;
}
