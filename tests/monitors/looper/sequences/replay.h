// Feeds a recorded run to LoopDispatches, and compares the dispatches with the stalls that marked
// themselves in the program.
#ifndef JANKBOX_TESTS_MONITORS_LOOPER_SEQUENCES_REPLAY_H_
#define JANKBOX_TESTS_MONITORS_LOOPER_SEQUENCES_REPLAY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/monitors/looper/sequences/recorded_run.h"

namespace jankbox {

// Between two events of a run, by their numbers.
struct ReplayedDispatch {
  size_t begin;
  size_t end;
  bool starts_up;
};

struct ReplayedRun {
  std::string loop;  // its name; empty: none was found
  size_t own_waits = 0;
  std::vector<ReplayedDispatch> dispatches;
};

ReplayedRun Replay(const RecordedRun& run);

struct Judgement {
  size_t planted = 0;
  size_t found = 0;                   // stalls of which a dispatch covers 80 % or more
  std::vector<std::string> missed;    // a line each
  std::vector<std::string> mistaken;  // slow dispatches without a stall or work, a line each
};

// A dispatch is mistaken if it is slow without the marked stalls in it, and was idle: the thread
// neither ran nor waited for a processor.
Judgement Judge(const RecordedRun& run, const ReplayedRun& replayed);

}  // namespace jankbox

#endif  // JANKBOX_TESTS_MONITORS_LOOPER_SEQUENCES_REPLAY_H_
