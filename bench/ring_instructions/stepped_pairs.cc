// The program that ring_instructions steps through: stepped_pairs inline|so|off PASSES. Records a
// while first, so that the pairs between the marks are like any others.
#include <cstdlib>
#include <cstring>
#include <optional>

#include "bench/harness/recording.h"
#include "bench/harness/temporary_folder.h"
#include "bench/harness/traced_child.h"
#include "bench/ring_write/kernels.h"

int main(int argc, char** argv) {
  using namespace jankbox::bench;
  if (argc != 3) return 2;
  constexpr uint32_t kWarmUpPasses = 5000;
  const auto passes = static_cast<uint32_t>(atoi(argv[2]));
  auto* kernel = strcmp(argv[1], "so") == 0 ? LibraryPairs : InlinePairs;
  const TemporaryFolder folder;
  std::optional<Recording> recording(std::in_place, folder.path(), 16u << 20);
  kernel(kWarmUpPasses);
  if (strcmp(argv[1], "off") == 0) recording.reset();
  BeginTraced();
  kernel(passes);
  EndTraced();
  return 0;
}
