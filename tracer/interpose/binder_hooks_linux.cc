#include "tracer/interpose/binder_hooks.h"

namespace jankbox {

void AddBinderHooks(HookSet* /*hooks*/) {}

}  // namespace jankbox
