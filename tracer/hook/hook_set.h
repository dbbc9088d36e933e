// The process's hooks: features contribute the functions that they want to see, and one GotHooks
// hooks them all, each slot once. If several features want one function their proxies form a
// chain in the order of HookFeature: the app calls the first one, whose `original` is the second,
// and so on to the function itself. A proxy so sees the calls that its own feature asked for and
// those of features of the same function with other callers; what matters to it (a file
// descriptor, a call site) it asks again. A feature that is off passes calls on.
// Add() from any thread; Refresh() and Stop() take the loader's locks: on Jankbox's own threads, or
// the one that stops. A fork waits for them, so that its child can start a recording of its own.
// Calls of libjankbox.so itself are never hooked.
#ifndef JANKBOX_TRACER_HOOK_HOOK_SET_H_
#define JANKBOX_TRACER_HOOK_HOOK_SET_H_

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "tracer/hook/got_hooks.h"
#include "tracer/hook/hook_use.h"

namespace jankbox {

class HookSet {
 public:
  HookSet() = default;  // tests; the process has Get()
  HookSet(const HookSet&) = delete;
  HookSet& operator=(const HookSet&) = delete;

  static HookSet& Get();

  // Wanted until Stop(), from the next Refresh() on. kInvalidArgument if proxy or original are
  // missing; kBusy if the feature hooks that function already.
  Status Add(const HookUse& use);

  // Adds all; if one cannot be added, the last error becomes "WITHOUT: reason".
  void AddAll(std::span<const HookUse> uses, const char* without);

  // Hooks what was added, in all modules that are loaded; later, in those that came since. Cheap
  // if nothing changed.
  Result<HookReport> Refresh();

  // A recording begins. In a forked child the parent's uses are still here: they are its own.
  void Begin();

  // Restores the import tables if they still contain Jankbox's proxies, and forgets all uses.
  void Stop();

  // Slots hooked and missed, and why, module by module: empty before the first Refresh().
  std::vector<ModuleHooks> Modules();

 private:
  // A proxy's place in its function's chain: permanently, since callers may keep a proxy's address.
  struct Link {
    HookFeature feature;
    void* proxy;
    OriginalFunction* original;
  };
  using Chain = std::vector<Link>;

  Status TakePlace(const HookUse& use) REQUIRES(mutex_);
  std::vector<HookRequest> Requests() const REQUIRES(mutex_);

  Mutex mutex_;
  std::array<Chain, kHookIds> chains_ GUARDED_BY(mutex_);
  std::vector<HookUse> uses_ GUARDED_BY(mutex_);
  bool changed_ GUARDED_BY(mutex_) = false;  // uses_ is not what is installed
  // Path of libjankbox.so; empty: the program itself carries this code.
  std::string own_library_ GUARDED_BY(mutex_);
  GotHooks hooks_;  // has a lock of its own
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_HOOK_HOOK_SET_H_
