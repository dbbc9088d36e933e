// As stepped_pairs, over a ring that keeps the kernel's clock: stepped_fallback_pairs PASSES.
#include <cstdlib>
#include <memory>

#include "bench/harness/traced_child.h"
#include "bench/ring_write/fallback_ring.h"

int main(int argc, char** argv) {
  using namespace jankbox::bench;
  if (argc != 2) return 2;
  constexpr uint32_t kWarmUpPasses = 5000;
  const FallbackRing ring;
  FallbackPairs(kWarmUpPasses);
  BeginTraced();
  FallbackPairs(static_cast<uint32_t>(atoi(argv[1])));
  EndTraced();
  return 0;
}
