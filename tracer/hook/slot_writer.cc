#include "tracer/hook/slot_writer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

namespace jankbox {
namespace {

std::atomic_ref<void*> SlotAt(uint64_t slot) {
  return std::atomic_ref<void*>(*reinterpret_cast<void**>(slot));
}

bool CompareAndStore(uint64_t slot, void* expected, void* desired) {
  // Release pairs with the address dependency of every call through the slot.
  return SlotAt(slot).compare_exchange_strong(expected, desired, std::memory_order_acq_rel,
                                              std::memory_order_acquire);
}

}  // namespace

SlotWriter::SlotWriter(const MemoryMap& map)
    : map_(map), page_bytes_(static_cast<uint64_t>(sysconf(_SC_PAGESIZE))) {}

void* SlotWriter::Load(uint64_t slot) { return SlotAt(slot).load(std::memory_order_acquire); }

SlotStore SlotWriter::Replace(uint64_t slot, void* expected, void* desired) {
  const std::optional<int> protection = map_.ProtectionAt(slot);
  if (!protection || (*protection & PROT_READ) == 0 || (*protection & PROT_EXEC) != 0) {
    return SlotStore::kProtected;
  }
  if ((*protection & PROT_WRITE) != 0) {
    return CompareAndStore(slot, expected, desired) ? SlotStore::kStored : SlotStore::kChanged;
  }
  void* page = reinterpret_cast<void*>(slot & ~(page_bytes_ - 1));
  if (mprotect(page, page_bytes_, PROT_READ | PROT_WRITE) != 0) return SlotStore::kProtected;
  const bool stored = CompareAndStore(slot, expected, desired);
  if (mprotect(page, page_bytes_, *protection) != 0) return SlotStore::kLeftWritable;
  return stored ? SlotStore::kStored : SlotStore::kChanged;
}

}  // namespace jankbox
