// Field numbers and enum values of the Perfetto messages that we write, as in Perfetto's published
// .proto files (perfetto_trace.proto; frame timeline: its Android extension). Constants only.
#ifndef JANKBOX_TRACER_PERFETTO_TRACE_FIELDS_H_
#define JANKBOX_TRACER_PERFETTO_TRACE_FIELDS_H_

#include <cstdint>

namespace jankbox::perfetto {

// Tags of fields below 16.
constexpr uint8_t VarintTag(uint32_t field) { return static_cast<uint8_t>(field << 3); }
constexpr uint8_t BytesTag(uint32_t field) { return static_cast<uint8_t>(field << 3 | 2); }

inline constexpr uint32_t kTracePacket = 1;  // of Trace

namespace packet {
inline constexpr uint32_t kFtraceEvents = 1;
inline constexpr uint32_t kClockSnapshot = 6;
inline constexpr uint32_t kTimestamp = 8;
inline constexpr uint32_t kTrustedSequenceId = 10;
inline constexpr uint32_t kTrackEvent = 11;
inline constexpr uint32_t kInternedData = 12;
inline constexpr uint32_t kSequenceFlags = 13;
inline constexpr uint32_t kSystemInfo = 45;
inline constexpr uint32_t kTrigger = 46;
inline constexpr uint32_t kTimestampClockId = 58;
inline constexpr uint32_t kTracePacketDefaults = 59;
inline constexpr uint32_t kTrackDescriptor = 60;
inline constexpr uint32_t kPerfSample = 66;
inline constexpr uint32_t kFrameTimelineEvent = 76;
inline constexpr uint32_t kFirstPacketOnSequence = 87;
}  // namespace packet

inline constexpr uint32_t kIncrementalStateCleared = 1;
inline constexpr uint32_t kNeedsIncrementalState = 2;

namespace clock_snapshot {
inline constexpr uint32_t kClocks = 1;
inline constexpr uint32_t kPrimaryTraceClock = 2;
inline constexpr uint32_t kClockId = 1;
inline constexpr uint32_t kTimestamp = 2;
inline constexpr uint32_t kIsIncremental = 3;
inline constexpr uint32_t kUnitMultiplierNs = 4;
}  // namespace clock_snapshot

inline constexpr uint32_t kClockRealtime = 1;
inline constexpr uint32_t kClockMonotonic = 3;
inline constexpr uint32_t kClockBoottime = 6;
inline constexpr uint32_t kClockOfSequence = 64;  // first of the sequence-scoped ones

namespace defaults {
inline constexpr uint32_t kTrackEventDefaults = 11;
inline constexpr uint32_t kTimestampClockId = 58;
}  // namespace defaults

namespace track_descriptor {
inline constexpr uint32_t kUuid = 1;
inline constexpr uint32_t kName = 2;
inline constexpr uint32_t kProcess = 3;
inline constexpr uint32_t kThread = 4;
inline constexpr uint32_t kParentUuid = 5;
inline constexpr uint32_t kCounter = 8;
// ProcessDescriptor
inline constexpr uint32_t kProcessPid = 1;
inline constexpr uint32_t kProcessName = 6;
inline constexpr uint32_t kProcessStartTimestampNs = 7;
// ThreadDescriptor
inline constexpr uint32_t kThreadPid = 1;
inline constexpr uint32_t kThreadTid = 2;
inline constexpr uint32_t kThreadName = 5;
}  // namespace track_descriptor

namespace track_event {
inline constexpr uint32_t kCategoryIids = 3;
inline constexpr uint32_t kDebugAnnotations = 4;
inline constexpr uint32_t kType = 9;
inline constexpr uint32_t kNameIid = 10;
inline constexpr uint32_t kTrackUuid = 11;
inline constexpr uint32_t kCategories = 22;
inline constexpr uint32_t kName = 23;
inline constexpr uint32_t kCounterValue = 30;
inline constexpr uint32_t kFlowIds = 47;             // fixed64
inline constexpr uint32_t kTerminatingFlowIds = 48;  // fixed64
// DebugAnnotation
inline constexpr uint32_t kAnnotationBool = 2;
inline constexpr uint32_t kAnnotationInt = 4;
inline constexpr uint32_t kAnnotationString = 6;
inline constexpr uint32_t kAnnotationName = 10;
}  // namespace track_event

enum class TrackEventType : uint32_t {
  kSliceBegin = 1,
  kSliceEnd = 2,
  kInstant = 3,
  kCounter = 4,
};

namespace interned_data {
inline constexpr uint32_t kEventCategories = 1;
inline constexpr uint32_t kEventNames = 2;
inline constexpr uint32_t kFunctionNames = 5;
inline constexpr uint32_t kFrames = 6;
inline constexpr uint32_t kCallstacks = 7;
inline constexpr uint32_t kBuildIds = 16;
inline constexpr uint32_t kMappingPaths = 17;
inline constexpr uint32_t kMappings = 19;
// The same in EventName, EventCategory, InternedString, Frame, Mapping and Callstack.
inline constexpr uint32_t kIid = 1;
inline constexpr uint32_t kString = 2;
inline constexpr uint32_t kFrameFunctionNameId = 2;
inline constexpr uint32_t kFrameMappingId = 3;
inline constexpr uint32_t kFrameRelPc = 4;
inline constexpr uint32_t kCallstackFrameIds = 2;
inline constexpr uint32_t kMappingBuildId = 2;
inline constexpr uint32_t kMappingPathStringIds = 7;
}  // namespace interned_data

namespace perf_sample {
inline constexpr uint32_t kPid = 2;
inline constexpr uint32_t kTid = 3;
inline constexpr uint32_t kCallstackIid = 4;
inline constexpr uint32_t kCpuMode = 5;
inline constexpr uint32_t kUnwindError = 16;
inline constexpr uint32_t kCpuModeUser = 2;            // Profiling.MODE_USER
inline constexpr uint32_t kUnwindErrorUnwindInfo = 3;  // Profiling.UNWIND_ERROR_UNWIND_INFO
inline constexpr uint32_t kUnwindErrorMaxFrames = 6;   // …MAX_FRAMES_EXCEEDED
}  // namespace perf_sample

namespace frame_timeline {
inline constexpr uint32_t kExpectedSurfaceFrameStart = 3;
inline constexpr uint32_t kActualSurfaceFrameStart = 4;
inline constexpr uint32_t kFrameEnd = 5;
// The same in the expected and the actual surface frame; FrameEnd has only the cookie.
inline constexpr uint32_t kCookie = 1;
inline constexpr uint32_t kToken = 2;
inline constexpr uint32_t kDisplayFrameToken = 3;
inline constexpr uint32_t kPid = 4;
inline constexpr uint32_t kLayerName = 5;
inline constexpr uint32_t kPresentType = 6;
inline constexpr uint32_t kOnTimeFinish = 7;
inline constexpr uint32_t kJankType = 9;
inline constexpr uint32_t kPredictionType = 10;
inline constexpr uint32_t kJankSeverityType = 12;
// docs/formats/frame_timeline.md says which frame has which.
inline constexpr uint32_t kPresentOnTime = 1;
inline constexpr uint32_t kPresentLate = 2;
inline constexpr uint32_t kPresentDropped = 4;
inline constexpr uint32_t kPredictionValid = 1;
inline constexpr uint32_t kJankNone = 1;
inline constexpr uint32_t kJankAppDeadlineMissed = 64;
inline constexpr uint32_t kJankUnknown = 256;
inline constexpr uint32_t kJankDropped = 1024;
inline constexpr uint32_t kSeverityNone = 1;
inline constexpr uint32_t kSeverityPartial = 2;
inline constexpr uint32_t kSeverityFull = 3;
}  // namespace frame_timeline

namespace ftrace_bundle {
inline constexpr uint32_t kCpu = 1;
inline constexpr uint32_t kEvent = 2;
inline constexpr uint32_t kLostEvents = 3;
}  // namespace ftrace_bundle

namespace ftrace_event {
inline constexpr uint32_t kTimestamp = 1;
inline constexpr uint32_t kPid = 2;
inline constexpr uint32_t kSchedSwitch = 4;
inline constexpr uint32_t kSchedWaking = 20;
inline constexpr uint32_t kSchedWakeupNew = 114;
inline constexpr uint32_t kBlockRqIssue = 45;
inline constexpr uint32_t kBlockRqComplete = 125;
inline constexpr uint32_t kTaskNewtask = 235;
inline constexpr uint32_t kTaskRename = 236;
inline constexpr uint32_t kSchedProcessExit = 238;
}  // namespace ftrace_event

namespace system_info {
inline constexpr uint32_t kUtsname = 1;
inline constexpr uint32_t kSysname = 1;
inline constexpr uint32_t kRelease = 3;
inline constexpr uint32_t kMachine = 4;
}  // namespace system_info

namespace trigger {
inline constexpr uint32_t kTriggerName = 1;
inline constexpr uint32_t kProducerName = 2;
}  // namespace trigger

}  // namespace jankbox::perfetto

#endif  // JANKBOX_TRACER_PERFETTO_TRACE_FIELDS_H_
