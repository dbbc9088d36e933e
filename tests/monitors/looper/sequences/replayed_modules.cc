#include "tests/monitors/looper/sequences/replayed_modules.h"

#include <algorithm>
#include <vector>

#include "monitors/looper/function_start.h"
#include "monitors/looper/loop_modules.h"

namespace jankbox {
namespace {

// Addresses that no recorded value is: those are numbers from 1 on.
constexpr uintptr_t kCallSites = uintptr_t{1} << 40;  // one for each site
constexpr uintptr_t kQtCode = uintptr_t{1} << 41;
constexpr uintptr_t kQtCodeEnd = uintptr_t{1} << 42;
constexpr LoopModule kQt = {LoopModuleKind::kLoop, "qt"};

struct ReplayedSite {
  LoopModule module;
  uintptr_t function;  // 0: unknown
};
std::vector<ReplayedSite> g_sites;

const ReplayedSite* ReplayedSiteAt(const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  return at >= kCallSites && at - kCallSites < g_sites.size() ? &g_sites[at - kCallSites] : nullptr;
}

}  // namespace

void ReplayedModules::Load(const RecordedRun& run) {
  g_sites.clear();
  for (const RecordedSite& site : run.sites) {
    const auto first = std::find_if(run.sites.begin(), run.sites.end(), [&](const auto& other) {
      return other.module == site.module && other.function == site.function;
    });
    const auto function = kCallSites + static_cast<uintptr_t>(first - run.sites.begin());
    g_sites.push_back({ClassifyModule(site.module), site.function != 0 ? function : 0});
  }
}

const void* ReplayedModules::CallSite(size_t site) {
  return reinterpret_cast<const void*>(kCallSites + site);
}

uintptr_t ReplayedModules::Word(uint64_t value, bool in_qt) {
  return in_qt ? kQtCode + value : value;
}

// --- In place of monitors/looper/function_start.cc and loop_modules.cc

const void* FunctionStart(const void* address) {
  const ReplayedSite* site = ReplayedSiteAt(address);
  return site == nullptr ? nullptr : reinterpret_cast<const void*>(site->function);
}

LoopModule LoopModules::Find(const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  if (at >= kQtCode && at < kQtCodeEnd) return kQt;
  const ReplayedSite* site = ReplayedSiteAt(address);
  return site == nullptr ? LoopModule{} : site->module;
}

// Those that the main thread has waited in at any time.
bool LoopModules::HasLoopLibrary() {
  return std::any_of(g_sites.begin(), g_sites.end(), [](const ReplayedSite& site) {
    return site.module.kind == LoopModuleKind::kLoop;
  });
}

}  // namespace jankbox
