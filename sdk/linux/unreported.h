// What the agent saw of a loop and the recorder did not, for the last line of `jankbox run`.
// Allocates.
#ifndef JANKBOX_SDK_LINUX_UNREPORTED_H_
#define JANKBOX_SDK_LINUX_UNREPORTED_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/clock.h"
#include "monitors/looper/loop_dispatches.h"
#include "tracer/ring/ring_format.h"

namespace jankbox {

// The fields of a "watched:" message (sdk/runtime/run_channel.h) about a main thread that has
// waited in its loop, "fltk", since before the recorder was ready: it is watched, and has a place
// in the ring once it returns. On any thread but that one.
inline std::string WaitingLoopText(int pid, const char* loop, const char* process) {
  return std::to_string(pid) + "\t" + std::to_string(kMaxWatchedThreads) + "\t0\t0\t" + loop +
         "\tmain\t" + process;
}

// On the loop's thread, once the program ends.
// "possible: 2\t1200\t0": how many waits were perhaps not the loop's and as long as a slow message,
// the longest of them, and how long a start-up was that was over before the recorder was ready, in
// milliseconds. "" if there was none of both.
inline std::string UnreportedOf(const LoopDispatches& loop, uint32_t slow_ms) {
  uint32_t count = 0, longest_ms = 0;
  for (const uint32_t waited_ms : loop.guessed_waits().waited_ms()) {
    if (waited_ms < slow_ms) continue;
    ++count;
    longest_ms = std::max(longest_ms, waited_ms);
  }
  uint64_t start_up_ms = loop.unrecorded_start_up_ns() / kNsPerMs;
  if (start_up_ms < slow_ms) start_up_ms = 0;
  if (count == 0 && start_up_ms == 0) return "";
  return "possible: " + std::to_string(count) + "\t" + std::to_string(longest_ms) + "\t" +
         std::to_string(start_up_ms);
}

}  // namespace jankbox

#endif  // JANKBOX_SDK_LINUX_UNREPORTED_H_
