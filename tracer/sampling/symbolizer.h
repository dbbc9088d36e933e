// Addresses to function names, from .symtab, else .dynsym, of the module's file (libelf; loaded at
// run time, its build id checked against the module's). One pass over a symbol table serves all
// addresses of a batch, so that memory does not grow with the table. Jankbox's sealing thread and
// programs only: reads files, allocates.
#ifndef JANKBOX_TRACER_SAMPLING_SYMBOLIZER_H_
#define JANKBOX_TRACER_SAMPLING_SYMBOLIZER_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "tracer/sampling/module_map.h"

namespace jankbox {

struct ResolvedFrame {
  std::string function;  // demangled; empty where no symbol covers the address
  std::string
      module;  // file name without directories; empty where no module covers it (JIT code, say)
  std::string
      path;  // the module's full path: for symbol tools on this machine, never put into a report
  std::string build_id;
  uint64_t rel_pc = 0;  // address in the ELF file; the address itself where no module covers it
  uint64_t function_start = 0;  // in the ELF file; 0 where not known
};

using FrameTable = std::unordered_map<uint64_t, ResolvedFrame>;  // by address

// Resolves every address of `addresses` (any order, repeats welcome).
FrameTable ResolveAddresses(const ModuleMap& modules, const std::vector<uint64_t>& addresses);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SAMPLING_SYMBOLIZER_H_
