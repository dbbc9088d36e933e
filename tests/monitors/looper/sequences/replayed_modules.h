// The code of a recorded program, for the replay: replayed_modules.cc defines FunctionStart() and
// LoopModules in place of the product's, which ask the loader. The rest of the loop model is the
// product's.
#ifndef JANKBOX_TESTS_MONITORS_LOOPER_SEQUENCES_REPLAYED_MODULES_H_
#define JANKBOX_TESTS_MONITORS_LOOPER_SEQUENCES_REPLAYED_MODULES_H_

#include <cstddef>
#include <cstdint>

#include "tests/monitors/looper/sequences/recorded_run.h"

namespace jankbox {

class ReplayedModules {
 public:
  // From now on the calling program is `run`'s. Not THREAD-SAFE.
  static void Load(const RecordedRun& run);

  // The return address of a call.
  static const void* CallSite(size_t site);

  // A word of the stack that has this recorded value, perhaps in a function (0: none).
  static uintptr_t Word(uint64_t value, size_t function);

  // One that is somewhere in Qt's code.
  static uintptr_t QtWord();
};

}  // namespace jankbox

#endif  // JANKBOX_TESTS_MONITORS_LOOPER_SEQUENCES_REPLAYED_MODULES_H_
