// Addresses to functions: their starts from the module's unwind table, their names from .symtab,
// else .dynsym, of the module's file (libelf; loaded at run time, its build id checked against the
// module's). One pass over a symbol table serves all
// addresses of a batch, so that memory does not grow with the table. Jankbox's sealing thread and
// programs only: reads files, allocates.
#ifndef JANKBOX_DIAGNOSIS_SYMBOLS_SYMBOLIZER_H_
#define JANKBOX_DIAGNOSIS_SYMBOLS_SYMBOLIZER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "diagnosis/symbols/elf_symbols.h"
#include "tracer/unwind/module_map.h"
#include "tracer/unwind/resolved_frame.h"

namespace jankbox {

// The file at a module's path as the recorded process sees it, which may have a root of its own.
// Null as ElfSymbols::Open().
std::unique_ptr<ElfSymbols> OpenModuleFile(const std::string& path);

// Resolves every address of `addresses` (any order, repeats welcome).
FrameTable ResolveAddresses(const ModuleMap& modules, const std::vector<uint64_t>& addresses);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SYMBOLS_SYMBOLIZER_H_
