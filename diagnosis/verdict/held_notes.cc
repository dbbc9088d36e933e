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
       " between start and end. This time is not part of the duration."},
      {held.suspended_ns, "the process was frozen by a sleep of the machine for ",
       " between start and end. This time is not part of the duration."},
      {held.traced_ns, "a debugger stopped the thread for ",
       " between start and end. This time is not part of the duration."},
      {held.beyond_ns, "the machine slept for ",
       " meanwhile. This time is not part of the duration."},
      {held.late_ns, "Jankbox's watcher thread got no CPU for ",
       " meanwhile. This time does not count towards an ANR."},
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
