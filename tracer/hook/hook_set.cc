#include "tracer/hook/hook_set.h"

#include <algorithm>

#include "base/last_error.h"
#include "base/loader_use.h"
#include "base/mutex.h"
#include "tracer/hook/loaded_module.h"
#include "tracer/hook/reentry_guard.h"

namespace jankbox {
namespace {

// Whether a call from `path` is one that any of the features asked for.
bool AnyMatches(const std::vector<CallerMatch>& matches, std::string_view path) {
  return std::any_of(matches.begin(), matches.end(),
                     [path](CallerMatch match) { return match == nullptr || match(path); });
}

// Of a child whose fork could not wait any longer.
Status NoHooksHere() {
  return Status(StatusCode::kUnavailable,
                "hooks: this process was forked while its parent's were being installed");
}

}  // namespace

bool IsOfTheApp(std::string_view path) {
  return path.substr(path.rfind('/') + 1).rfind("libjankbox", 0) != 0;
}

HookSet& HookSet::Get() {
  // Never destroyed: proxies stay callable permanently, so does what they need.
  return MakeOnce([] { return new HookSet(); });
}

Status HookSet::Add(const HookUse& use) {
  if (LoaderUse::ForkedInside()) return NoHooksHere();
  const LoaderUse no_fork;
  MutexLock lock(&mutex_);
  ReentrySlot::Prepare();  // without it proxies call on and do nothing else
  if (use.proxy == nullptr || use.original == nullptr) {
    return Status(StatusCode::kInvalidArgument, "hooks: a use without proxy or original");
  }
  for (const HookUse& other : uses_) {
    if (other.id == use.id && other.feature == use.feature) {
      return Status(StatusCode::kBusy, std::string("hooks: twice ") + SymbolOf(use.id));
    }
  }
  Status status = TakePlace(use);
  if (!status.ok()) return status;
  uses_.push_back(use);
  changed_ = true;
  return Status::Ok();
}

void HookSet::AddAll(std::span<const HookUse> uses, const char* without) {
  for (const HookUse& use : uses) {
    const Status status = Add(use);
    if (!status.ok()) SetLastError(without + (": " + status.message()));
  }
}

// Links the proxy into its chain. The links before it may be in use: they see it only when it can
// call on.
Status HookSet::TakePlace(const HookUse& use) {
  Chain& chain = chains_[static_cast<size_t>(use.id)];
  auto next = chain.begin();
  while (next != chain.end() && next->feature < use.feature) ++next;
  if (next != chain.end() && next->feature == use.feature) {
    if (next->proxy == use.proxy && next->original == use.original) return Status::Ok();
    return Status(StatusCode::kInvalidArgument,
                  "hooks: a feature can have only one proxy for each function");
  }
  void* calls_on = nullptr;  // the last of a chain learns it from GotHooks
  if (next != chain.end()) {
    calls_on = next->proxy;
  } else if (!chain.empty()) {
    calls_on = chain.back().original->address();
  }
  if (calls_on != nullptr) use.original->Set(calls_on);
  if (next != chain.begin()) (next - 1)->original->Set(use.proxy);
  chain.insert(next, {use.feature, use.proxy, use.original});
  return Status::Ok();
}

// One request for each function: its first proxy in use, and the place in which the last one finds
// the function itself.
std::vector<HookRequest> HookSet::Requests() const {
  std::vector<HookRequest> requests;
  for (size_t i = 0; i < kHookIds; ++i) {
    std::vector<CallerMatch> matches;
    const HookUse* first = nullptr;
    for (const HookUse& use : uses_) {
      if (use.id != static_cast<HookId>(i)) continue;
      matches.push_back(use.caller_matches);
      if (first == nullptr || use.feature < first->feature) first = &use;
    }
    if (first == nullptr) continue;
    HookRequest& request = requests.emplace_back();
    request.symbol = kHookedSymbols[i].symbol;
    request.proxy = first->proxy;
    request.original = chains_[i].back().original;
    request.caller_matches = [matches, own = own_library_](std::string_view path) {
      return (own.empty() || path != own) && AnyMatches(matches, path);
    };
  }
  return requests;
}

Result<HookReport> HookSet::Refresh() {
  if (LoaderUse::ForkedInside()) return NoHooksHere();
  const LoaderUse no_fork;
  MutexLock lock(&mutex_);
  if (!changed_) return hooks_.Refresh();
  hooks_.Uninstall();
  own_library_ = LibraryPathOf(reinterpret_cast<const void*>(&HookSet::Get));
  changed_ = false;
  return hooks_.Install(Requests());
}

void HookSet::Begin() {
  if (LoaderUse::ForkedInside()) return;
  const LoaderUse no_fork;
  MutexLock lock(&mutex_);
  changed_ = changed_ || !uses_.empty();
  uses_.clear();
}

void HookSet::Stop() {
  if (LoaderUse::ForkedInside()) return;
  const LoaderUse no_fork;
  MutexLock lock(&mutex_);
  hooks_.Uninstall();
  uses_.clear();
  changed_ = false;
}

std::vector<ModuleHooks> HookSet::Modules() {
  if (LoaderUse::ForkedInside()) return {};
  const LoaderUse no_fork;
  return hooks_.Modules();
}

}  // namespace jankbox
