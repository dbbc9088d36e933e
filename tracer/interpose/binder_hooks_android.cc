#include "tracer/interpose/binder_hooks.h"
#include "tracer/interpose/binder_proxies.h"

namespace jankbox {

void AddBinderHooks(HookSet* hooks) {
  hooks->AddAll(BinderHooks(), "binder calls are not recorded");
}

}  // namespace jankbox
