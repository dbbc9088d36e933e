#include "tracer/interpose/binder_interfaces.h"

#include <algorithm>

#include "base/fnv1a.h"

namespace jankbox {
namespace {

constexpr size_t kProbes = 16;  // a table that is nearly full is not searched for long

// 0 is a free slot's.
uint64_t HashOf(std::string_view name) {
  const uint64_t hash = Fnv1a(name);
  return hash == 0 ? 1 : hash;
}

}  // namespace

constinit BinderInterfaces::Slot BinderInterfaces::slots_[kSlots];
constinit std::atomic<uint64_t> BinderInterfaces::dropped_{0};
constinit std::atomic<bool> BinderInterfaces::news_{false};

void BinderInterfaces::Note(std::string_view name) {
  if (name.empty() || name.size() > kMaxInterfaceBytes) return;
  const uint64_t hash = HashOf(name);
  for (size_t probe = 0; probe < kProbes; ++probe) {
    Slot& slot = slots_[(hash + probe) % kSlots];
    uint64_t known = slot.hash.load(std::memory_order_relaxed);
    if (known == 0 && slot.hash.compare_exchange_strong(known, hash, std::memory_order_relaxed)) {
      std::copy(name.begin(), name.end(), slot.name);
      slot.bytes.store(static_cast<uint32_t>(name.size()), std::memory_order_release);
      news_.store(true, std::memory_order_release);  // both pair with Take()
      return;
    }
    if (known == hash) return;
  }
  dropped_.fetch_add(1, std::memory_order_relaxed);
}

std::string_view BinderInterfaces::Take() {
  if (!news_.load(std::memory_order_relaxed)) return {};
  // Pairs with Note(): who is missed now has set it again for the next time.
  news_.exchange(false, std::memory_order_acq_rel);
  for (Slot& slot : slots_) {
    const uint32_t bytes = slot.bytes.load(std::memory_order_acquire);
    if (bytes == 0 || slot.taken) continue;
    slot.taken = true;
    news_.store(true, std::memory_order_relaxed);  // there may be more
    return {slot.name, bytes};
  }
  return {};
}

}  // namespace jankbox
