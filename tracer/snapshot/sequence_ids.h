// The writer sequences of a trace, besides kProcessSequence. Constants only.
#ifndef JANKBOX_TRACER_SNAPSHOT_SEQUENCE_IDS_H_
#define JANKBOX_TRACER_SNAPSHOT_SEQUENCE_IDS_H_

#include <cstdint>

namespace jankbox {

inline constexpr uint32_t kFrameSequence = 2;
inline constexpr uint32_t kSampleSequence = 3;
inline constexpr uint32_t kProcessEventSequence = 4;
inline constexpr uint32_t kMarkerSequence = 5;
inline constexpr uint32_t kThreadTrackSequence = 6;
// Importers say of an event without a thread that the thread wrote it that its sequence described
// last: the incident's has no thread.
inline constexpr uint32_t kIncidentSequence = 7;
// One a thread, one a sampled thread.
inline constexpr uint32_t kFirstThreadSequence = 8;

// Beyond those of threads.
inline constexpr uint32_t kRecordingSequence = 1u << 30;
inline constexpr uint32_t kFtraceSequence = kRecordingSequence + 1;
inline constexpr uint32_t kKernelSourceSequence = kRecordingSequence + 2;
inline constexpr uint32_t kVerdictSequence = kRecordingSequence + 3;
inline constexpr uint32_t kCoverageSequence = kRecordingSequence + 4;
inline constexpr uint32_t kWakeUpSequence = kRecordingSequence + 5;
// One a track of page faults or of times off the CPU.
inline constexpr uint32_t kFirstKernelThreadSequence = kRecordingSequence + 6;

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SNAPSHOT_SEQUENCE_IDS_H_
