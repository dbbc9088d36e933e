// A symbolized address of code. Plain data: diagnosis/symbols fills it, traces and
// reports are written from it.
#ifndef JANKBOX_TRACER_UNWIND_RESOLVED_FRAME_H_
#define JANKBOX_TRACER_UNWIND_RESOLVED_FRAME_H_

#include <cstdint>
#include <string>
#include <unordered_map>

namespace jankbox {

struct ResolvedFrame {
  std::string function;  // demangled; empty if no symbol covers the address
  // The same by .dynsym only, which strip leaves: keys that a stripped and an unstripped program
  // share rest on it.
  std::string exported;
  // File name without directories; empty if no module covers the address (JIT code, say).
  std::string module;
  // The module's full path: for symbol tools on this machine, never put into a report.
  std::string path;
  std::string build_id;
  uint64_t rel_pc = 0;  // address in the ELF file; the address itself if no module covers it
  // The code's identity in place of a build id that is missing; empty if there is one.
  std::string text_key;
  // In the ELF file, from .eh_frame, else from .dynsym; 0 if not known. The same with and without
  // .symtab. Of JIT code: from its map.
  uint64_t function_start = 0;
};

using FrameTable = std::unordered_map<uint64_t, ResolvedFrame>;  // by address

}  // namespace jankbox

#endif  // JANKBOX_TRACER_UNWIND_RESOLVED_FRAME_H_
