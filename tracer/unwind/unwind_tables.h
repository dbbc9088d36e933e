// The memory that unwinding may look at: a copied stack, and the modules' unwind tables and code
// through a page cache that cannot fault. One watcher thread owns it; NO-ALLOC after construction.
#ifndef JANKBOX_TRACER_UNWIND_UNWIND_TABLES_H_
#define JANKBOX_TRACER_UNWIND_UNWIND_TABLES_H_

#include <cstdint>

#include "tracer/unwind/eh_frame_table.h"
#include "tracer/unwind/machine.h"
#include "tracer/unwind/module_map.h"
#include "tracer/unwind/safe_memory.h"

namespace jankbox {

class UnwindTables {
 public:
  UnwindTables();

  // Returns whether what was read from the modules before may be wrong now.
  bool SetModules(const ModuleMap* modules);
  void SetStack(const StackCopy& stack) { stack_ = stack; }

  const StackCopy& stack() const { return stack_; }
  const Module* FindModule(uint64_t address);

  // A machine word of the copied stack; false outside of the copy.
  bool ReadStack(uint64_t address, uint64_t* word) const;
  // Bytes of a module; false outside of all modules.
  bool ReadModule(uint64_t address, void* into, size_t size);
  // The memory that unwinding reads: the stack's copy first, then modules, else nothing.
  bool ReadWord(uint64_t address, uint64_t* word);
  // Code, of a module or generated at run time (never cached: it changes).
  bool ReadCode(uint64_t address, void* into, size_t size);

  // Header of `module`'s search table; false if it is absent or of a form that no linker writes.
  bool FindSearchTable(const Module& module, EhFrameTable* table);

 private:
  BlockCache blocks_;
  ModuleMap modules_;
  const Module* last_found_ = nullptr;  // of modules_
  StackCopy stack_;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_UNWIND_UNWIND_TABLES_H_
