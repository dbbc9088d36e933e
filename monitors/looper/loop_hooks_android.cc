#include "monitors/looper/loop_hooks.h"

namespace jankbox {

void AddLoopHooks(const std::string& /*watched_threads*/, HookSet* /*hooks*/) {}

bool WatchLoopOfThisThread() { return true; }

const char* FollowLoopLibraries() { return ""; }

}  // namespace jankbox
