#include "tracer/unwind/unwind_tables.h"

#include <cstring>

namespace jankbox {

namespace {

constexpr size_t kPageCacheBytes = 512 * 1024;

}  // namespace

UnwindTables::UnwindTables() : pages_(kPageCacheBytes) {}

void UnwindTables::SetModules(const ModuleMap* modules) {
  modules_ = modules;
  pages_.Invalidate();
}

const Module* UnwindTables::FindModule(uint64_t address) const {
  return modules_ == nullptr ? nullptr : modules_->Find(address);
}

bool UnwindTables::ReadStack(uint64_t address, uint64_t* word) const {
  const size_t size = stack_.bytes.size();
  if (address < stack_.base || size < sizeof(*word) ||
      address - stack_.base > size - sizeof(*word)) {
    return false;
  }
  std::memcpy(word, stack_.bytes.data() + (address - stack_.base), sizeof(*word));
  return true;
}

bool UnwindTables::ReadModule(uint64_t address, void* into, size_t size) {
  const Module* module = FindModule(address);
  return module != nullptr && size <= module->end - address && pages_.Read(address, into, size);
}

bool UnwindTables::ReadWord(uint64_t address, uint64_t* word) {
  return ReadStack(address, word) || ReadModule(address, word, sizeof(*word));
}

bool UnwindTables::ReadCode(uint64_t address, void* into, size_t size) {
  return ReadModule(address, into, size) ||
         (FindModule(address) == nullptr && ReadRecordedMemory(address, into, size) == size);
}

bool UnwindTables::FindSearchTable(const Module& module, EhFrameTable* table) {
  return ReadEhFrameTable(
      module.eh_frame_hdr, module.eh_frame_hdr_size,
      [this](uint64_t address, void* into, size_t size) { return ReadModule(address, into, size); },
      table);
}

}  // namespace jankbox
