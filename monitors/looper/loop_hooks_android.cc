#include "monitors/looper/loop_hooks.h"

namespace jankbox {

void AddLoopHooks(const std::string& /*watched_threads*/, HookSet* /*hooks*/) {}

void WatchLoopOfThisThread() {}

const char* FollowLoopLibraries() { return ""; }

}  // namespace jankbox
