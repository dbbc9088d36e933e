// Uuids of our tracks: the kind in the top byte, the process in the next three, a number of that
// kind below. The same input gives the same uuids; kinds never collide and none is 0. Pure
// functions.
#ifndef JANKBOX_TRACER_PERFETTO_TRACK_UUID_H_
#define JANKBOX_TRACER_PERFETTO_TRACK_UUID_H_

#include <cstdint>

namespace jankbox {

enum class TrackKind : uint8_t {
  kProcess = 1,
  kThread = 2,        // number: tid
  kLaterThread = 3,   // number: index in the window; its tid was another thread's before
  kAsync = 4,         // number: order of first use
  kCounter = 5,       // number: method id
  kSampledStack = 6,  // number: tid
  kIncident = 7,
  kRecording = 8,
  kMarkers = 9,      // number: order of first use
  kThreadName = 10,  // number: tid
  kPageFaults = 11,  // number: tid
  kOffCpu = 12,      // number: tid
  kKernelSource = 13,
  kVerdict = 14,
  kCoverage = 15,
};

inline constexpr uint64_t TrackUuid(TrackKind kind, int32_t pid, uint32_t number) {
  return static_cast<uint64_t>(kind) << 56 |
         static_cast<uint64_t>(static_cast<uint32_t>(pid) & 0xffffff) << 32 | number;
}

}  // namespace jankbox

#endif  // JANKBOX_TRACER_PERFETTO_TRACK_UUID_H_
