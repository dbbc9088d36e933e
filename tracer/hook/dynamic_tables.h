// The tables of a module that PT_DYNAMIC names, as far as imports need them: symbols, strings, and
// relocations in each of the formats that linkers write. Pure functions of an ElfImage; nothing
// outside of its segments is read. No allocation but for NeededLibraries().
#ifndef JANKBOX_TRACER_HOOK_DYNAMIC_TABLES_H_
#define JANKBOX_TRACER_HOOK_DYNAMIC_TABLES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tracer/hook/elf_image.h"

namespace jankbox {

struct ElfTable {
  uint64_t address = 0;
  uint64_t size = 0;      // bytes; 0: the module has none
  uint64_t relative = 0;  // of its entries: the first so many are relative relocations
};

// Formats of relocations.
enum class RelocationTable : uint8_t {
  kRel,         // DT_REL: the addend is in the slot
  kRela,        // DT_RELA
  kPackedRel,   // DT_ANDROID_REL: "APS2" and SLEB128 numbers
  kPackedRela,  // DT_ANDROID_RELA
  kRelr,        // DT_RELR, DT_ANDROID_RELR: only relative relocations, none to a symbol
};
inline constexpr size_t kRelocationTables = 5;

struct DynamicTables {
  ElfTable strings;
  uint64_t symbols = 0;
  ElfTable relocations[kRelocationTables];  // by RelocationTable
  ElfTable jump_slots;                      // DT_JMPREL
  bool jump_slots_have_addends = true;      // DT_PLTREL is DT_RELA
};

// False if the tables contradict themselves or are outside of the image.
bool ReadDynamicTables(const ElfImage& image, DynamicTables* tables);

// The names of DT_NEEDED, in the image's own memory.
std::vector<std::string_view> NeededLibraries(const ElfImage& image);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_HOOK_DYNAMIC_TABLES_H_
