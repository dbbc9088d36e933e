// One frame of a UI thread as a kFrame event, in the Choreographer's terms. Id: bits 0-3 payload
// words (0 represents 5), 4-7 source, 8-9 fate. Payload: 0-4: vsync, deadline, interval, start and
// end in ns of CLOCK_MONOTONIC; then, as far as known, 5: vsync id, 6: expected present, 7:
// presented, 8-10: phases in us, two of 30 bits a word, the first one low. NO-ALLOC, SIGNAL-SAFE,
// THREAD-SAFE (pure functions). docs/formats/ring.md is the authority.
#ifndef JANKBOX_TRACER_EVENT_FRAME_EVENT_H_
#define JANKBOX_TRACER_EVENT_FRAME_EVENT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tracer/event/event.h"

namespace jankbox {

// The phases of doFrame, in this order (android.view.Choreographer's callback types).
enum class FramePhase : uint32_t { kInput, kAnimation, kInsets, kTraversal, kCommit };
inline constexpr size_t kFramePhases = 5;

// Who reported of the frame. Numbers are of the ring's format.
enum class FrameSource : uint32_t {
  kApi = 0,
  kChoreographer = 1,
  kFrameMetrics = 2,
  kPresentation = 3,  // wp_presentation
  kGtk = 4,
  kSdl = 5,
  kEgl = 6,
  kGlx = 7,
  kTimer = 8,
};
inline constexpr uint32_t kFrameSources = 9;

// Its fate on the display. Numbers are of the ring's format.
enum class FrameFate : uint32_t { kUnknown = 0, kPresented = 1, kDiscarded = 2 };

struct FrameEvent {
  uint64_t vsync_ns = 0;     // CLOCK_MONOTONIC, as all times; 0: not known, start_ns is used
  uint64_t deadline_ns = 0;  // 0: one interval after vsync
  uint64_t interval_ns = 0;  // of the display at this frame
  uint64_t start_ns = 0;     // of doFrame
  uint64_t end_ns = 0;
  uint64_t vsync_id = 0;             // 0: none
  uint64_t expected_present_ns = 0;  // 0: not known
  uint64_t presented_ns = 0;         // 0: not known
  uint64_t phase_ns[kFramePhases] = {};
  FrameSource source = FrameSource::kApi;
  FrameFate fate = FrameFate::kUnknown;
};

namespace frame_event {
inline constexpr uint32_t kTimeWords = 5;
inline constexpr uint32_t kMaxWords = 11;
inline constexpr uint32_t kSourceShift = 4;
inline constexpr uint32_t kSourceMask = 15;
inline constexpr uint32_t kFateShift = 8;
inline constexpr uint32_t kFateMask = 3;
inline constexpr uint32_t kUsedBits = 10;
inline constexpr uint64_t kMaxPhaseUs = (uint64_t{1} << 30) - 1;

inline constexpr uint32_t WordsOf(uint32_t id) {
  const uint32_t words = id & kAsidePayloadMask;
  return words == 0 ? kTimeWords : words;
}
inline constexpr uint64_t PhaseBits(uint64_t phase_ns) {
  return std::min(phase_ns / 1000, kMaxPhaseUs);
}
}  // namespace frame_event

struct EncodedFrame {
  uint32_t id = 0;
  uint32_t words = frame_event::kTimeWords;
  uint64_t payload[frame_event::kMaxWords] = {};
};

inline constexpr EncodedFrame EncodeFrame(const FrameEvent& frame) {
  EncodedFrame encoded;
  const uint64_t words[] = {
      frame.vsync_ns,
      frame.deadline_ns,
      frame.interval_ns,
      frame.start_ns,
      frame.end_ns,
      frame.vsync_id,
      frame.expected_present_ns,
      frame.presented_ns,
      frame_event::PhaseBits(frame.phase_ns[0]) | frame_event::PhaseBits(frame.phase_ns[1]) << 30,
      frame_event::PhaseBits(frame.phase_ns[2]) | frame_event::PhaseBits(frame.phase_ns[3]) << 30,
      frame_event::PhaseBits(frame.phase_ns[4])};
  for (uint32_t i = 0; i < frame_event::kMaxWords; ++i) {
    encoded.payload[i] = words[i] & kPayloadMask;
    if (i >= encoded.words && encoded.payload[i] != 0) encoded.words = i + 1;
  }
  encoded.id = encoded.words | static_cast<uint32_t>(frame.source) << frame_event::kSourceShift |
               static_cast<uint32_t>(frame.fate) << frame_event::kFateShift;
  return encoded;
}

// `payload` has the words' data (PayloadOf). False if they make no sense.
inline constexpr bool DecodeFrame(uint32_t id, std::span<const uint64_t> payload,
                                  FrameEvent* frame) {
  const uint32_t source = id >> frame_event::kSourceShift & frame_event::kSourceMask;
  const uint32_t fate = id >> frame_event::kFateShift & frame_event::kFateMask;
  if (id >> frame_event::kUsedBits != 0 || source >= kFrameSources ||
      fate > static_cast<uint32_t>(FrameFate::kDiscarded) ||
      payload.size() != frame_event::WordsOf(id) || payload.size() < frame_event::kTimeWords ||
      payload.size() > frame_event::kMaxWords) {
    return false;
  }
  const auto word = [payload](size_t i) { return i < payload.size() ? payload[i] : 0; };
  *frame = {.vsync_ns = word(0),
            .deadline_ns = word(1),
            .interval_ns = word(2),
            .start_ns = word(3),
            .end_ns = word(4),
            .vsync_id = word(5),
            .expected_present_ns = word(6),
            .presented_ns = word(7),
            .source = static_cast<FrameSource>(source),
            .fate = static_cast<FrameFate>(fate)};
  for (size_t i = 0; i < kFramePhases; ++i) {
    frame->phase_ns[i] = (word(8 + i / 2) >> (30 * (i % 2)) & frame_event::kMaxPhaseUs) * 1000;
  }
  return true;
}

}  // namespace jankbox

#endif  // JANKBOX_TRACER_EVENT_FRAME_EVENT_H_
