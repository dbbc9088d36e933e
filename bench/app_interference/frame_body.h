// One frame of an app, always the same work: 2,000 calls of which each is recorded, with arithmetic
// and memory of a working set of 64 KiB in each. Takes at least four milliseconds, once calibrated.
#ifndef JANKBOX_BENCH_APP_INTERFERENCE_FRAME_BODY_H_
#define JANKBOX_BENCH_APP_INTERFERENCE_FRAME_BODY_H_

#include <cstdint>
#include <vector>

namespace jankbox::bench {

inline constexpr uint32_t kCallsPerFrame = 2000;
inline constexpr uint64_t kLeastFrameNs = 4'000'000;

class FrameBody {
 public:
  // Finds how much work a call needs; a second or so.
  FrameBody();

  // One frame; its ns.
  uint64_t Run();

  uint32_t steps_per_call() const { return steps_per_call_; }

 private:
  uint64_t Work(uint64_t seed);

  uint32_t steps_per_call_ = 100;
  std::vector<uint64_t> memory_;
};

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_APP_INTERFERENCE_FRAME_BODY_H_
