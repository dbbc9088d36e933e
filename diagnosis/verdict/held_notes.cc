#include "diagnosis/verdict/held_notes.h"

#include "base/clock.h"

namespace jankbox {

std::vector<std::string> HeldNotes(const HeldTime& held) {
  const struct {
    uint64_t ns;
    const char* before;
    const char* after;
  } sentences[] = {
      {held.stopped_ns, "the process was stopped (SIGSTOP or a freezer) for ",
       " of the time between begin and end: not in the duration, not blamed."},
      {held.suspended_ns, "the process was frozen for a sleep of the machine for ",
       " of the time between begin and end: not in the duration, not blamed."},
      {held.traced_ns, "a debugger held the thread for ",
       " of the time between begin and end: not in the duration, not blamed."},
      {held.beyond_ns, "the machine slept for ", " meanwhile: not in the duration."},
      {held.late_ns, "Jankbox's own watcher was starved of a CPU for ",
       " meanwhile: no ANR rests on that time."},
  };
  std::vector<std::string> notes;
  for (const auto& sentence : sentences) {
    if (sentence.ns < kNsPerMs) continue;
    notes.push_back(sentence.before + std::to_string(sentence.ns / kNsPerMs) + " ms" +
                    sentence.after);
  }
  return notes;
}

}  // namespace jankbox
