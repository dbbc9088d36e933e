#include "tools/attach/target_memory.h"

#include <cstring>

namespace jankbox::tools {

void TargetMemory::SetModules(const ModuleMap* modules) {
  modules_ = modules;
  kinds_.clear();
  for (const Module& module : modules->modules()) kinds_.push_back(ClassifyModule(module.path));
  tables_.SetModules(modules);
}

bool TargetMemory::Read(uint64_t address, void* into, size_t size) const {
  const uint64_t copied = stack_.bytes.size();
  if (address >= stack_.base && size <= copied && address - stack_.base <= copied - size) {
    memcpy(into, stack_.bytes.data() + (address - stack_.base), size);
    return true;
  }
  return ReadRecordedMemory(address, into, size) == size;
}

bool TargetMemory::ReadStack(const void* at, std::span<uintptr_t> words) const {
  return Read(reinterpret_cast<uintptr_t>(at), words.data(), words.size_bytes());
}

const void* TargetMemory::StartOfFunction(const void* address) const {
  const uint64_t call = reinterpret_cast<uintptr_t>(address) - 1;  // the call may end its function
  const Module* module = tables_.FindModule(call);
  EhFrameTable table;
  if (module == nullptr || !tables_.FindSearchTable(*module, &table)) return nullptr;
  const auto read = [this](uint64_t at, void* into, size_t size) {
    return tables_.ReadModule(at, into, size);
  };
  return reinterpret_cast<const void*>(FindEhFrameEntry(table, call, read).function);
}

LoopModule TargetMemory::FindModule(const void* address) const {
  const Module* module = modules_->Find(reinterpret_cast<uintptr_t>(address));
  if (module == nullptr) return {};
  return kinds_[static_cast<size_t>(module - modules_->modules().data())];
}

}  // namespace jankbox::tools
