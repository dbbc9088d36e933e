#include "tracer/hook/slot_writer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "tracer/unwind/safe_memory.h"

namespace jankbox {
namespace {

void** SlotAt(uint64_t slot) { return reinterpret_cast<void**>(slot); }

bool CompareAndStore(uint64_t slot, void* expected, void* desired) {
  // Release pairs with the address dependency of every call through the slot.
  return __atomic_compare_exchange_n(SlotAt(slot), &expected, desired, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE);
}

}  // namespace

SlotWriter::SlotWriter(MemoryMap* map)
    : map_(map), page_bytes_(static_cast<uint64_t>(sysconf(_SC_PAGESIZE))) {}

void* SlotWriter::Load(uint64_t slot) { return __atomic_load_n(SlotAt(slot), __ATOMIC_ACQUIRE); }

std::vector<void*> SlotWriter::LoadSafely(std::span<const uint64_t> slots) {
  const auto page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  std::vector<void*> values(slots.size());
  std::vector<std::byte> page(page_bytes);
  for (size_t i = 0, next = 0; i < slots.size(); i = next) {
    const uint64_t first = slots[i];
    while (next < slots.size() && slots[next] / page_bytes == first / page_bytes) ++next;
    const size_t bytes = static_cast<size_t>(slots[next - 1] - first) + sizeof(void*);
    if (ReadOwnMemory(first, page.data(), bytes) != bytes) continue;
    for (size_t at = i; at < next; ++at) {
      memcpy(&values[at], page.data() + (slots[at] - first), sizeof(void*));
    }
  }
  return values;
}

SlotStore SlotWriter::Replace(uint64_t slot, void* expected, void* desired) {
  const std::optional<int> protection = map_->ProtectionAt(slot);
  if (!protection || (*protection & PROT_READ) == 0 || (*protection & PROT_EXEC) != 0) {
    return SlotStore::kProtected;
  }
  if ((*protection & PROT_WRITE) != 0) {
    return CompareAndStore(slot, expected, desired) ? SlotStore::kStored : SlotStore::kChanged;
  }
  const uint64_t page = slot & ~(page_bytes_ - 1);
  if (page != open_page_) {
    Finish();
    if (mprotect(reinterpret_cast<void*>(page), page_bytes_, PROT_READ | PROT_WRITE) != 0) {
      return SlotStore::kProtected;
    }
    open_page_ = page;
    open_protection_ = *protection;
  }
  return CompareAndStore(slot, expected, desired) ? SlotStore::kStored : SlotStore::kChanged;
}

uint32_t SlotWriter::Finish() {
  if (open_page_ != 0 &&
      mprotect(reinterpret_cast<void*>(open_page_), page_bytes_, open_protection_) != 0) {
    ++left_writable_;
  }
  open_page_ = 0;
  return left_writable_;
}

}  // namespace jankbox
