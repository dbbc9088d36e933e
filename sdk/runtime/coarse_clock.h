// The thread that renews the shared tick of RecordMode::kCoarse, running only while that mode
// holds.
#ifndef JANKBOX_SDK_RUNTIME_COARSE_CLOCK_H_
#define JANKBOX_SDK_RUNTIME_COARSE_CLOCK_H_

#include <time.h>

#include <atomic>
#include <cstdint>

#include "base/own_thread.h"

namespace jankbox {

class CoarseClock {
 public:
  CoarseClock() = default;
  ~CoarseClock() { Stop(); }
  CoarseClock(const CoarseClock&) = delete;
  CoarseClock& operator=(const CoarseClock&) = delete;

  // One Jankbox thread calls these. False if the system allows no further thread.
  bool Start();
  void Stop();

  // CPU time of the thread, also of those before, in ns.
  uint64_t cpu_ns() const;

 private:
  void Run();

  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> cpu_ns_{0};
  uint64_t cpu_before_ns_ = 0;
  OwnThread thread_;
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_RUNTIME_COARSE_CLOCK_H_
