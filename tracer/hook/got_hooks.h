// Replaces functions in the import tables (PLT/GOT, and addresses taken in static tables) of chosen
// modules by proxies, in memory only. Cold: everything here runs on Jankbox's own threads, takes
// the loader's locks and allocates (see loaded_module.h: never from a constructor). What runs on
// the app's threads is the caller's proxy alone; it calls `original` on, and must stay callable for
// good (other hookers, and the app, may keep its address), also after Uninstall(). THREAD-SAFE.
#ifndef JANKBOX_TRACER_HOOK_GOT_HOOKS_H_
#define JANKBOX_TRACER_HOOK_GOT_HOOKS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "tracer/hook/loaded_module.h"
#include "tracer/hook/original_function.h"

namespace jankbox {

struct HookRequest {
  const char* symbol = nullptr;
  // Which calling modules, by path (the program: its executable's); empty: all.
  std::function<bool(std::string_view path)> caller_matches;
  void* proxy = nullptr;
  // Set once, before any slot holds the proxy, and never reset; null can only be seen by a proxy
  // that is called by itself. One for each request.
  OriginalFunction* original = nullptr;
};

enum class HookMiss : uint8_t {
  kCorruptTables,   // a module whose tables contradict themselves
  kUnknownPacking,  // a module with packed relocations other than Android's "APS2"
  kOutOfReach,      // a module that the loader lists, but gives no reference to (namespaces)
  kUnaligned,       // a slot in a packed struct: no atomic store there
  kOtherHook,       // the slot leads to a function that is neither the original nor known to us
  kAbsent,          // a weak import without a definition
  kNoOriginal,      // no module defines the symbol
  kProtected,       // the page cannot be made writable (or is executable)
};
inline constexpr size_t kHookMissKinds = 8;

// As a report names it; "" if no call is missed: nothing defines the function.
const char* HookMissText(HookMiss miss);

// Slots of the wanted functions, as of the last poll.
struct HookCounts {
  uint32_t hooked = 0;                            // lead to a proxy
  uint32_t missed = 0;                            // sum of `misses`
  std::array<uint32_t, kHookMissKinds> misses{};  // by HookMiss; a module that cannot be read is 1
};

struct HookReport : HookCounts {
  uint32_t modules = 0;              // that a request asked for, with or without slots
  uint32_t pages_left_writable = 0;  // the kernel refused to give a page its protection back
};

// The same for one module. One without slots imports none of the functions: it does not call them,
// carries a copy of its own, or finds them with dlsym().
struct ModuleHooks {
  std::string path;
  HookCounts slots;
};

class GotHooks {
 public:
  GotHooks() = default;
  GotHooks(const GotHooks&) = delete;
  GotHooks& operator=(const GotHooks&) = delete;
  // Leaves hooks in place: the app's threads may be anywhere when a process ends.
  ~GotHooks() = default;

  // Hooks in all modules that are loaded now. `requests` are copied, what they point to is not.
  // kBusy when installed already; kUnsupported on machines whose relocations are not known.
  Result<HookReport> Install(std::span<const HookRequest> requests);

  // Hooks in modules that were loaded since. One look at the loader's counters when there are none.
  // The first call after new slots, or after an unload, checks all of them again: a thread that was
  // just binding a slot lazily may have overwritten the proxy, and a module may have come back.
  HookReport Refresh();

  // Restores each slot that still contains a proxy. A slot that another tool hooked after
  // us stays as it is: the proxy stays in that chain.
  void Uninstall();

  // Hooked and missed slots of each module that a request asked for, by path, as of the last look
  // at the modules. Never waits for the loader.
  std::vector<ModuleHooks> Modules();

 private:
  struct HookedSlot {
    LoadedModule module;
    void* proxy;
    void* before;
  };
  struct KnownModule {
    bool wanted = false;
    HookCounts slots;
  };
  using ModuleKey = std::pair<uintptr_t, std::string>;     // load bias, path
  using Slots = std::unordered_map<uint64_t, HookedSlot>;  // by address
  class Pass;

  // `recheck`: not only the modules that are new.
  void RunPass(bool recheck) REQUIRES(mutex_);
  // Forgets the modules that are gone or have to be scanned again; returns the slots of the latter.
  Slots ForgetChanged(const std::vector<LoadedModule>& modules, bool unloaded) REQUIRES(mutex_);
  std::vector<uint64_t> SlotAddresses() REQUIRES(mutex_);  // sorted
  void SumUp() REQUIRES(mutex_);
  void Tell() REQUIRES(mutex_);

  Mutex mutex_;
  std::vector<HookRequest> requests_ GUARDED_BY(mutex_);  // empty: not installed
  Slots slots_ GUARDED_BY(mutex_);
  // Those without a request have no counts.
  std::map<ModuleKey, KnownModule> known_modules_ GUARDED_BY(mutex_);
  // PLT entries that represent wanted functions.
  std::set<uint64_t> canonical_addresses_ GUARDED_BY(mutex_);
  LoaderCounts counts_ GUARDED_BY(mutex_);     // as of the last pass
  bool unsettled_ GUARDED_BY(mutex_) = false;  // the last pass stored into slots
  HookReport report_ GUARDED_BY(mutex_);
  Mutex told_mutex_;  // taken after mutex_, and held for a copy only
  std::vector<ModuleHooks> told_ GUARDED_BY(told_mutex_);
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_HOOK_GOT_HOOKS_H_
