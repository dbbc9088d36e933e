#include "tracer/hook/got_hooks.h"

#include <dlfcn.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "base/compact_sort.h"
#include "base/loader_use.h"
#include "tracer/hook/elf_image.h"
#include "tracer/hook/hook_use.h"
#include "tracer/hook/import_scan.h"
#include "tracer/hook/memory_map.h"
#include "tracer/hook/permanent_modules.h"
#include "tracer/hook/slot_writer.h"

namespace jankbox {
namespace {

constexpr int kStoreAttempts = 4;  // a slot is bound lazily at most once under our hands

bool Wants(const HookRequest& request, const std::string& path) {
  return !request.caller_matches || request.caller_matches(path);
}

// Where the preloaded agent's functions are. Not this library's: its own are proxies.
std::vector<ElfImage> AgentsAmong(const std::vector<LoadedModule>& modules) {
  std::vector<ElfImage> agents;
  for (const LoadedModule& module : modules) {
    if (IsOfTheApp(module.path) || module.is_program) continue;
    ElfImage image = ElfImage::OfModule(module);
    if (image.From(reinterpret_cast<uintptr_t>(&AgentsAmong)).empty()) {
      agents.push_back(std::move(image));
    }
  }
  return agents;
}

bool SameModule(const LoadedModule& a, const LoadedModule& b) {
  return a.load_bias == b.load_bias && a.path == b.path;
}

}  // namespace

const char* HookMissText(HookMiss miss) {
  switch (miss) {
    case HookMiss::kCorruptTables:
      return "contradictory tables";
    case HookMiss::kUnknownPacking:
      return "unknown packing";
    case HookMiss::kOutOfReach:
      return "not accessible";
    case HookMiss::kUnaligned:
      return "unaligned";
    case HookMiss::kOtherHook:
      return "hooked by another tool";
    case HookMiss::kProtected:
      return "protected";
    case HookMiss::kAbsent:
    case HookMiss::kNoOriginal:
      break;
  }
  return "";
}

// One walk: hold the modules, scan them, choose the originals, store; destruction releases.
class GotHooks::Pass {
 public:
  // `earlier` has what former passes hooked in modules that this one checks again. `first`: there
  // was no pass.
  Pass(GotHooks* hooks, const std::vector<LoadedModule>& modules, Slots earlier, bool first)
      : hooks_(*hooks), agents_(AgentsAmong(modules)), earlier_(std::move(earlier)), first_(first) {
    for (const HookRequest& request : hooks_.requests_) symbols_.push_back(request.symbol);
    next_definitions_.resize(symbols_.size());
  }

  // `counts` are the module's, kept by GotHooks.
  void Hold(const LoadedModule& module, HookCounts* counts) {
    HeldModule held(module);
    if (held.out_of_reach()) Miss(HookMiss::kOutOfReach, counts);
    if (!held.held()) return;
    callers_.push_back({module, std::move(held), ElfImage::OfModule(module), {}, counts});
  }

  // These three run in RunPass(), which owns the lock.
  void Scan() {
    hooks_.mutex_.AssertOwned();
    for (Caller& caller : callers_) {
      ImportScan scan = ScanImports(caller.image, symbols_);
      if (scan.result == ScanResult::kCorrupt) Miss(HookMiss::kCorruptTables, caller.counts);
      if (scan.result == ScanResult::kUnknownPacking)
        Miss(HookMiss::kUnknownPacking, caller.counts);
      Miss(HookMiss::kUnaligned, caller.counts, scan.unaligned_slots);
      for (const ImportSlot& slot : scan.slots) {
        if (slot.canonical_address == 0) continue;
        hooks_.canonical_addresses_.insert(slot.canonical_address);
      }
      caller.slots = std::move(scan.slots);
    }
  }

  // The original of a symbol is what most slots lead to: that follows the lookup of the modules
  // themselves (interposed libraries, versions) and chains onto a hooker that was there before us.
  void ChooseOriginals() {
    hooks_.mutex_.AssertOwned();
    for (size_t i = 0; i < hooks_.requests_.size(); ++i) {
      const HookRequest& request = hooks_.requests_[i];
      if (request.original->address() != nullptr) continue;
      void* original = MostFrequentTarget(i);
      // The loader is slow to say that there is none.
      if (original == nullptr && (first_ || IsImported(i))) {
        original = NextDefinition(i);
      }
      if (IsDefinition(original, request)) request.original->Set(original);
    }
  }

  void Store() {
    hooks_.mutex_.AssertOwned();
    MemoryMap map = MemoryMap::Load();
    SlotWriter writer(&map);
    for (const Caller& caller : callers_) {
      for (const ImportSlot& slot : caller.slots) {
        if (!Wants(hooks_.requests_[slot.symbol], caller.module.path)) continue;
        StoreSlot(caller, slot, &writer);
      }
    }
    hooks_.report_.pages_left_writable += writer.Finish();
  }

 private:
  struct Caller {
    LoadedModule module;
    HeldModule held;
    ElfImage image;
    std::vector<ImportSlot> slots;
    HookCounts* counts;
  };

  static void Miss(HookMiss miss, HookCounts* counts, uint32_t slots = 1) {
    counts->misses[static_cast<size_t>(miss)] += slots;
    counts->missed += slots;
  }

  bool IsOfTheAgent(void* function) const {
    return std::any_of(agents_.begin(), agents_.end(), [function](const ElfImage& agent) {
      return !agent.From(reinterpret_cast<uintptr_t>(function)).empty();
    });
  }

  bool IsCanonical(void* target) const REQUIRES(hooks_.mutex_) {
    return hooks_.canonical_addresses_.count(reinterpret_cast<uintptr_t>(target)) != 0;
  }

  // False for our proxy and for PLT entries: a proxy that called on to those would call itself.
  bool IsDefinition(void* target, const HookRequest& request) const REQUIRES(hooks_.mutex_) {
    return target != nullptr && target != request.proxy && !IsCanonical(target);
  }

  static bool IsUnbound(const Caller& caller, const ImportSlot& slot, void* target) {
    return IsLazyBindingStub(caller.image, slot, reinterpret_cast<uintptr_t>(target));
  }

  void* MostFrequentTarget(size_t request) const REQUIRES(hooks_.mutex_) {
    std::map<void*, int> targets;
    for (const Caller& caller : callers_) {
      for (const ImportSlot& slot : caller.slots) {
        if (slot.symbol != request) continue;
        void* target = SlotWriter::Load(slot.address);
        if (!IsDefinition(target, hooks_.requests_[request])) continue;
        if (!IsUnbound(caller, slot, target)) ++targets[target];
      }
    }
    // The libraries that Jankbox brings call the C library directly. A small program has fewer, and
    // its calls lead to the preloaded agent, which calls the C library.
    const auto agent = std::find_if(targets.begin(), targets.end(), [this](const auto& slots) {
      return IsOfTheAgent(slots.first);
    });
    if (agent != targets.end()) return agent->first;
    auto most = std::max_element(targets.begin(), targets.end(),
                                 [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == targets.end() ? nullptr : most->first;
  }

  bool IsImported(size_t request) const {
    return std::any_of(callers_.begin(), callers_.end(), [request](const Caller& caller) {
      return std::any_of(caller.slots.begin(), caller.slots.end(),
                         [request](const ImportSlot& slot) { return slot.symbol == request; });
    });
  }

  // What the loader finds after this library. One that was linked before it, and that was not
  // called yet, is not behind a proxy.
  void* NextDefinition(size_t request) {
    std::optional<void*>& next = next_definitions_[request];
    if (next) return *next;
    LoaderUse use;
    next = dlsym(RTLD_NEXT, symbols_[request].data());
    if (*next == nullptr) next = dlsym(RTLD_DEFAULT, symbols_[request].data());
    return *next;
  }

  // Whether a call through `slot` ends in the original, or in what it would be without an earlier
  // hooker of other modules.
  bool MayReplace(const Caller& caller, const ImportSlot& slot, void* target)
      REQUIRES(hooks_.mutex_) {
    const HookRequest& request = hooks_.requests_[slot.symbol];
    return target == request.original->address() || IsCanonical(target) ||
           IsUnbound(caller, slot, target) || target == NextDefinition(slot.symbol);
  }

  void StoreSlot(const Caller& caller, const ImportSlot& slot, SlotWriter* writer)
      REQUIRES(hooks_.mutex_) {
    const HookRequest& request = hooks_.requests_[slot.symbol];
    if (request.original->address() == nullptr) {
      return Miss(HookMiss::kNoOriginal, caller.counts);
    }
    for (int attempt = 0; attempt < kStoreAttempts; ++attempt) {
      void* target = SlotWriter::Load(slot.address);
      if (target == nullptr) return Miss(HookMiss::kAbsent, caller.counts);
      if (target == request.proxy || !MayReplace(caller, slot, target)) {
        return KeepSlot(caller, slot, target);
      }
      const SlotStore stored = writer->Replace(slot.address, target, request.proxy);
      if (stored == SlotStore::kChanged) continue;
      if (stored == SlotStore::kProtected) return Miss(HookMiss::kProtected, caller.counts);
      ++caller.counts->hooked;
      hooks_.unsettled_ = true;
      hooks_.slots_[slot.address] = {caller.module, request.proxy, target};
      return;
    }
    Miss(HookMiss::kOtherHook, caller.counts);
  }

  // The slot already contains Jankbox's proxy, or another tool's: what was in it before us is
  // remembered in both cases, since the other one may give our proxy back.
  void KeepSlot(const Caller& caller, const ImportSlot& slot, void* target)
      REQUIRES(hooks_.mutex_) {
    const auto known = earlier_.find(slot.address);
    if (known != earlier_.end() && SameModule(known->second.module, caller.module)) {
      hooks_.slots_.insert(*known);
    }
    if (target != hooks_.requests_[slot.symbol].proxy)
      return Miss(HookMiss::kOtherHook, caller.counts);
    ++caller.counts->hooked;
  }

  GotHooks& hooks_;
  const std::vector<ElfImage> agents_;
  const Slots earlier_;
  const bool first_;
  // In the order of the requests.
  std::vector<std::string_view> symbols_;
  std::vector<std::optional<void*>> next_definitions_;  // those that were asked for
  std::vector<Caller> callers_;
};

std::vector<uint64_t> GotHooks::SlotAddresses() {
  std::vector<uint64_t> addresses;
  for (const auto& [address, slot] : slots_) addresses.push_back(address);
  std::sort(addresses.begin(), addresses.end());
  return addresses;
}

GotHooks::Slots GotHooks::ForgetChanged(const std::vector<LoadedModule>& modules, bool unloaded) {
  std::set<ModuleKey> listed;
  for (const LoadedModule& module : modules) listed.emplace(module.load_bias, module.path);
  const std::vector<uint64_t> addresses = SlotAddresses();
  // Not held: one that is unloaded meanwhile reads as null.
  const std::vector<void*> values = SlotWriter::LoadSafely(addresses);
  std::set<ModuleKey> unchanged;
  std::set<ModuleKey> changed;
  for (size_t i = 0; i < addresses.size(); ++i) {
    const HookedSlot& slot = slots_.at(addresses[i]);
    (values[i] == slot.proxy ? unchanged : changed)
        .emplace(slot.module.load_bias, slot.module.path);
  }
  constexpr auto kNoOriginal = static_cast<size_t>(HookMiss::kNoOriginal);
  for (auto it = known_modules_.begin(); it != known_modules_.end();) {
    const auto& [key, module] = *it;
    // One whose slots still lead to proxies was not unloaded. Of one without, nothing tells.
    const bool stays = listed.contains(key) && !changed.contains(key) &&
                       module.slots.misses[kNoOriginal] == 0 &&
                       (!unloaded || !module.wanted || unchanged.contains(key));
    it = stays ? std::next(it) : known_modules_.erase(it);
  }
  Slots earlier;
  for (const uint64_t address : addresses) {
    const auto slot = slots_.find(address);
    const ModuleKey key(slot->second.module.load_bias, slot->second.module.path);
    if (known_modules_.contains(key)) continue;
    if (listed.contains(key)) earlier.insert(*slot);
    slots_.erase(slot);
  }
  return earlier;
}

void GotHooks::RunPass(bool recheck) {
  const uint64_t unloads = counts_.unloads;
  std::vector<LoadedModule> modules = ListLoadedModules(&counts_);
  const bool first = known_modules_.empty();
  if (first) MarkPermanent(&modules);  // no module becomes that later
  Slots earlier;
  if (recheck) earlier = ForgetChanged(modules, counts_.unloads != unloads);
  unsettled_ = false;
  std::vector<std::pair<const LoadedModule*, HookCounts*>> callers;
  for (const LoadedModule& module : modules) {
    const auto [known, is_new] = known_modules_.try_emplace({module.load_bias, module.path});
    if (!is_new) continue;
    known->second.wanted =
        std::any_of(requests_.begin(), requests_.end(),
                    [&](const HookRequest& request) { return Wants(request, module.path); });
    if (known->second.wanted) callers.emplace_back(&module, &known->second.slots);
  }
  if (!callers.empty()) {
    Pass pass(this, modules, std::move(earlier), first);
    for (const auto& [module, counts] : callers) pass.Hold(*module, counts);
    pass.Scan();
    pass.ChooseOriginals();
    pass.Store();
  }
  SumUp();
  Tell();
}

void GotHooks::Tell() {
  std::vector<ModuleHooks> told;
  for (const auto& [key, module] : known_modules_) {
    if (module.wanted) told.push_back({key.second, module.slots});
  }
  CompactSort(&told, [](const ModuleHooks& a, const ModuleHooks& b) { return a.path < b.path; });
  MutexLock lock(&told_mutex_);
  told_ = std::move(told);
}

void GotHooks::SumUp() {
  report_ = {.pages_left_writable = report_.pages_left_writable};
  for (const auto& [key, module] : known_modules_) {
    if (!module.wanted) continue;
    ++report_.modules;
    report_.hooked += module.slots.hooked;
    report_.missed += module.slots.missed;
    for (size_t i = 0; i < kHookMissKinds; ++i) report_.misses[i] += module.slots.misses[i];
  }
}

std::vector<ModuleHooks> GotHooks::Modules() {
  MutexLock lock(&told_mutex_);
  return told_;
}

Result<HookReport> GotHooks::Install(std::span<const HookRequest> requests) {
  MutexLock lock(&mutex_);
  if (!ImportScanSupported()) return Status(StatusCode::kUnsupported, "hooks: unknown machine");
  if (!requests_.empty()) return Status(StatusCode::kBusy, "hooks are already installed");
  for (const HookRequest& request : requests) {
    if (request.symbol == nullptr || request.proxy == nullptr || request.original == nullptr) {
      return Status(StatusCode::kInvalidArgument, "hooks: incomplete request");
    }
  }
  requests_.assign(requests.begin(), requests.end());
  report_ = {};
  RunPass(/*recheck=*/false);
  return report_;
}

HookReport GotHooks::Refresh() {
  MutexLock lock(&mutex_);
  if (requests_.empty()) return report_;
  const LoaderCounts now = ReadLoaderCounts();
  const bool unloaded = now.unloads != counts_.unloads;
  if (now.loads == counts_.loads && !unloaded && !unsettled_) return report_;
  RunPass(/*recheck=*/unloaded || unsettled_);
  return report_;
}

void GotHooks::Uninstall() {
  MutexLock lock(&mutex_);
  std::map<ModuleKey, HeldModule> held;
  const std::vector<uint64_t> addresses = SlotAddresses();  // page by page
  for (const auto& [address, slot] : slots_) {
    const ModuleKey key(slot.module.load_bias, slot.module.path);
    if (held.count(key) == 0) held.emplace(key, HeldModule(slot.module));
  }
  MemoryMap map = MemoryMap::Load();
  SlotWriter writer(&map);
  for (const uint64_t address : addresses) {
    const HookedSlot& slot = slots_.at(address);
    if (!held.at({slot.module.load_bias, slot.module.path}).held()) continue;
    writer.Replace(address, slot.proxy, slot.before);
  }
  report_.pages_left_writable += writer.Finish();
  slots_.clear();
  requests_.clear();
  known_modules_.clear();
  canonical_addresses_.clear();
  Tell();
  report_ = {.pages_left_writable = report_.pages_left_writable};
}

}  // namespace jankbox
