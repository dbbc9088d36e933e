#include "sdk/src/loop_hooks.h"

namespace jankbox {

void AddLoopHooks(HookSet* /*hooks*/) {}

void FollowLoopLibraries(RingHeader* /*ring*/) {}

}  // namespace jankbox
