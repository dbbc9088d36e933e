#include "tracer/unwind/unwind_tables.h"

#include <cstring>

namespace jankbox {

namespace {

constexpr size_t kCacheBytes = 512 * 1024;

}  // namespace

UnwindTables::UnwindTables() : blocks_(kCacheBytes) {}

bool UnwindTables::SetModules(const ModuleMap* modules) {
  // A program that starts loads libraries one by one: they take no address of another one's.
  const bool adds_only = modules->Contains(modules_);
  if (!adds_only) blocks_.Invalidate();
  modules_ = *modules;
  last_found_ = nullptr;
  return !adds_only;
}

const Module* UnwindTables::FindModule(uint64_t address) {
  if (last_found_ == nullptr || address < last_found_->start || address >= last_found_->end) {
    last_found_ = modules_.Find(address);
  }
  return last_found_;
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
  return module != nullptr && size <= module->end - address && blocks_.Read(address, into, size);
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
