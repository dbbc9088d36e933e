// An interposed function, for the feature table of hooks (sdk/runtime installs
// it). Proxies run on the app's threads at any moment, signal handlers included: NO-ALLOC, no lock,
// SIGNAL-SAFE; result and errno are those of the function. They stay callable permanently: while
// nothing is recorded they only call on.
#ifndef JANKBOX_TRACER_INTERPOSE_SOURCE_HOOK_H_
#define JANKBOX_TRACER_INTERPOSE_SOURCE_HOOK_H_

#include <atomic>

#include "tracer/hook/hook_ids.h"

namespace jankbox {

struct SourceHook {
  HookId id;
  void* proxy = nullptr;
  std::atomic<void*>* original = nullptr;  // what the proxy calls on; set before its first call
};

namespace source {

template <HookId kId>
constinit inline std::atomic<void*> g_original{nullptr};

// The original of the proxy of `kId`, as a function of that type.
template <HookId kId, typename Function>
inline Function* Original() {
  // Pairs with the store of whoever installs the hook.
  return reinterpret_cast<Function*>(g_original<kId>.load(std::memory_order_acquire));
}

template <HookId kId, typename Function>
inline SourceHook HookOf(Function* proxy) {
  return {kId, reinterpret_cast<void*>(proxy), &g_original<kId>};
}

}  // namespace source
}  // namespace jankbox

#endif  // JANKBOX_TRACER_INTERPOSE_SOURCE_HOOK_H_
