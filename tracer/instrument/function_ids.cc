#include "tracer/instrument/function_ids.h"

#include <sys/mman.h>

#include <atomic>

#include "tracer/ring/method_registry.h"

namespace jankbox {
namespace {

// Open addressing at most half full. A slot's address is set once, by compare-and-swap; its id
// follows.
struct Slot {
  std::atomic<uint64_t> address;
  std::atomic<uint32_t> id;
};

constexpr uint32_t kSlots = 2 * kMaxInstrumentedFunctions;
constexpr uint32_t kMaxProbes = 64;

std::atomic<Slot*> g_table{nullptr};

// Anonymous memory: pages that no function hashes to are never touched.
Slot* Table() {
  Slot* table = g_table.load(std::memory_order_acquire);
  if (table != nullptr) return table;
  void* memory = mmap(nullptr, kSlots * sizeof(Slot), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  Slot* expected = nullptr;
  if (!g_table.compare_exchange_strong(expected, static_cast<Slot*>(memory))) {
    munmap(memory, kSlots * sizeof(Slot));
    return expected;
  }
  return static_cast<Slot*>(memory);
}

}  // namespace

uint32_t IdOfFunction(uint64_t address) {
  Slot* table = Table();
  if (table == nullptr) return 0;
  uint32_t at = static_cast<uint32_t>((address * 0x9e3779b97f4a7c15u) >> 47) % kSlots;
  for (uint32_t probe = 0; probe < kMaxProbes; ++probe, at = (at + 1) % kSlots) {
    Slot& slot = table[at];
    uint64_t known = slot.address.load(std::memory_order_acquire);
    if (known == 0 &&
        slot.address.compare_exchange_strong(known, address, std::memory_order_acq_rel)) {
      const uint32_t id = MethodRegistry::Get().NewIdOfAddress(address);
      slot.id.store(id, std::memory_order_release);
      return id;
    }
    // 0 while another thread registers the same function right now: its first calls elsewhere are
    // not recorded.
    if (known == address) return slot.id.load(std::memory_order_acquire);
  }
  return 0;
}

}  // namespace jankbox
