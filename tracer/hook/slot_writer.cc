#include "tracer/hook/slot_writer.h"

#include <sys/mman.h>
#include <unistd.h>

namespace jankbox {
namespace {

void** SlotAt(uint64_t slot) { return reinterpret_cast<void**>(slot); }

bool CompareAndStore(uint64_t slot, void* expected, void* desired) {
  // Release pairs with the address dependency of every call through the slot.
  return __atomic_compare_exchange_n(SlotAt(slot), &expected, desired, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE);
}

}  // namespace

SlotWriter::SlotWriter(const MemoryMap& map)
    : map_(map), page_bytes_(static_cast<uint64_t>(sysconf(_SC_PAGESIZE))) {}

void* SlotWriter::Load(uint64_t slot) { return __atomic_load_n(SlotAt(slot), __ATOMIC_ACQUIRE); }

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
