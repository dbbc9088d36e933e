// The memory and the modules of the recorded process, as LoopWaits and the wait functions' callers
// need them: words of a stack (from the copy that perf took, else from the process), the kind of
// the module at an address, the start of a function by its unwind tables. The watching thread's.
#ifndef JANKBOX_TOOLS_ATTACH_TARGET_MEMORY_H_
#define JANKBOX_TOOLS_ATTACH_TARGET_MEMORY_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "monitors/looper/loop_memory.h"
#include "tracer/unwind/module_map.h"
#include "tracer/unwind/unwind_tables.h"

namespace jankbox::tools {

class TargetMemory final : public LoopMemory {
 public:
  // `modules` outlives its use.
  void SetModules(const ModuleMap* modules);
  // The stack of the event that is looked at; its bytes outlive their use.
  void SetStack(const StackCopy& stack) { stack_ = stack; }

  // False if not all of it can be read.
  bool Read(uint64_t address, void* into, size_t size) const;

  bool ReadStack(const void* at, std::span<uintptr_t> words) const override;
  const void* StartOfFunction(const void* address) const override;
  LoopModule FindModule(const void* address) const override;

 private:
  const ModuleMap* modules_ = nullptr;
  std::vector<LoopModule> kinds_;  // of the modules, in their order
  mutable UnwindTables tables_;    // a cache
  StackCopy stack_;
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_ATTACH_TARGET_MEMORY_H_
