// What a feature contributes for one function, and where its proxy finds the original:
//
//   using Hook = HookedBy<HookFeature::kIo>;
//   int FsyncProxy(int fd) { return Hook::Original<HookId::kFsync, int(int)>()(fd); }
//   const HookUse use = Hook::Use<HookId::kFsync>(FsyncProxy, IsOfTheApp);
//
// Proxies run on the app's threads at any moment, signal handlers included: NO-ALLOC, no lock,
// SIGNAL-SAFE; result and errno are those of the function. They stay callable permanently: while
// nothing is recorded they only call on.
#ifndef JANKBOX_TRACER_HOOK_HOOK_USE_H_
#define JANKBOX_TRACER_HOOK_HOOK_USE_H_

#include <string_view>

#include "tracer/hook/hook_ids.h"
#include "tracer/hook/original_function.h"

namespace jankbox {

// Which calling modules are hooked, by path; null: all.
using CallerMatch = bool (*)(std::string_view path);

// Every module but Jankbox's own (the preload agent calls for itself).
bool IsOfTheApp(std::string_view path);

// Proxy and original have static storage: callers may keep a proxy's address.
struct HookUse {
  HookId id = HookId::kPoll;
  HookFeature feature = HookFeature::kLoop;
  CallerMatch caller_matches = nullptr;
  void* proxy = nullptr;
  OriginalFunction* original = nullptr;
};

// The hooks of one feature. Where two features hook one function, each has an original.
template <HookFeature kFeature>
class HookedBy {
 public:
  template <HookId kId, typename Function>
  static Function* Original() {
    return original_<kId>.template Get<Function>();
  }

  template <HookId kId, typename Function>
  static HookUse Use(Function* proxy, CallerMatch caller_matches) {
    return {kId, kFeature, caller_matches, reinterpret_cast<void*>(proxy), &original_<kId>};
  }

 private:
  template <HookId kId>
  static constinit inline OriginalFunction original_;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_HOOK_HOOK_USE_H_
