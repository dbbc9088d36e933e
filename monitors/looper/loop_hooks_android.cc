#include "monitors/looper/loop_hooks.h"

namespace jankbox {

void AddLoopHooks(const std::string& /*watched_threads*/, HookSet* /*hooks*/) {}

void WatchLoopOfThisThread() {}

void FollowLoopLibraries(RingHeader* /*ring*/) {}

}  // namespace jankbox
