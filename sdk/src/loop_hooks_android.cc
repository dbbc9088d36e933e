#include "sdk/src/loop_hooks.h"

namespace jankbox {

void RefreshLoopHooks(RingHeader* /*ring*/) {}

void StopLoopHooks() {}

}  // namespace jankbox
