#include "sdk/src/binder_hooks.h"

namespace jankbox {

void AddBinderHooks(HookSet* /*hooks*/) {}

}  // namespace jankbox
