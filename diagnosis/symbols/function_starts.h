// The starts of a module's functions, from its unwind table (.eh_frame): they are there with and
// without symbols, and the same. Reads the recorded process' memory; the module's file if that has
// ended or its module was unloaded. Cold path: sealing thread and programs.
#ifndef JANKBOX_DIAGNOSIS_SYMBOLS_FUNCTION_STARTS_H_
#define JANKBOX_DIAGNOSIS_SYMBOLS_FUNCTION_STARTS_H_

#include <cstdint>

#include "diagnosis/symbols/elf_file.h"
#include "tracer/unwind/eh_frame_table.h"
#include "tracer/unwind/module_map.h"
#include "tracer/unwind/safe_memory.h"

namespace jankbox {

class FunctionStarts {
 public:
  // `module` outlives this. `file`: the module's, or null.
  FunctionStarts(const Module& module, const ElfFile* file);
  FunctionStarts(const FunctionStarts&) = delete;
  FunctionStarts& operator=(const FunctionStarts&) = delete;

  // The start of the function that covers `address`, both in the ELF file; 0 if no FDE does.
  uint64_t Find(uint64_t address);

 private:
  BlockCache blocks_;
  const ElfFile* file_ = nullptr;  // null: the memory is read
  uint64_t bias_;                  // of the addresses in `table_`
  EhFrameTable table_;
};

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SYMBOLS_FUNCTION_STARTS_H_
