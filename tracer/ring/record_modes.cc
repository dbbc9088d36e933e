#include "tracer/ring/record_modes.h"

#include <algorithm>

namespace jankbox {

void NoteRecordMode(RingFile* ring, RecordMode mode, RecordModeReason reason, uint64_t from_ticks) {
  RingHeader* header = ring->mutable_header();
  const uint64_t number = header->mode_changes.load(std::memory_order_relaxed);
  RingMode& entry = header->modes[number % kMaxRingModes];
  entry.from_ticks.store(from_ticks, std::memory_order_relaxed);
  entry.mode.store(static_cast<uint32_t>(mode), std::memory_order_relaxed);
  entry.reason.store(static_cast<uint32_t>(reason), std::memory_order_relaxed);
  header->mode_changes.store(number + 1, std::memory_order_release);
}

std::vector<RecordedMode> RecordModesBetween(const RingHeader& header, uint64_t from_ticks,
                                             uint64_t to_ticks) {
  const uint64_t end = header.mode_changes.load(std::memory_order_acquire);
  std::vector<RecordedMode> modes;
  for (uint64_t n = end - std::min<uint64_t>(end, kMaxRingModes); n < end; ++n) {
    const RingMode& entry = header.modes[n % kMaxRingModes];
    const uint32_t mode = entry.mode.load(std::memory_order_relaxed);
    const uint32_t reason = entry.reason.load(std::memory_order_relaxed);
    const uint64_t from = entry.from_ticks.load(std::memory_order_relaxed);
    if (mode > static_cast<uint32_t>(RecordMode::kOff) || from > to_ticks) continue;
    if (reason > static_cast<uint32_t>(RecordModeReason::kOption)) continue;
    if (from <= from_ticks) modes.clear();  // a later one was active when the window began
    modes.push_back({static_cast<RecordMode>(mode), static_cast<RecordModeReason>(reason), from});
  }
  return modes;
}

RecordMode CurrentRecordMode(const RingHeader& header) {
  const uint64_t changes = header.mode_changes.load(std::memory_order_acquire);
  if (changes == 0) return RecordMode::kExact;
  const RingMode& last = header.modes[(changes - 1) % kMaxRingModes];
  return static_cast<RecordMode>(last.mode.load(std::memory_order_relaxed));
}

const char* RecordModeName(RecordMode mode) {
  switch (mode) {
    case RecordMode::kExact:
      return "exact";
    case RecordMode::kCoarse:
      return "coarse";
    case RecordMode::kWatchedOnly:
      return "ui_only";
    case RecordMode::kOff:
      break;
  }
  return "off";
}

const char* RecordModeReasonName(RecordModeReason reason) {
  switch (reason) {
    case RecordModeReason::kStart:
      return "start";
    case RecordModeReason::kOverBudget:
      return "over budget";
    case RecordModeReason::kWithinBudget:
      return "within budget";
    case RecordModeReason::kOption:
      break;
  }
  return "option";
}

}  // namespace jankbox
