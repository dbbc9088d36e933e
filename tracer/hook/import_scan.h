// Finds the slots through which a module calls, or knows the address of, given functions: the
// JUMP_SLOT, GLOB_DAT and absolute relocations of DT_JMPREL, DT_REL, DT_RELA and Android's packed
// tables, of either class. RELR tables have only relative relocations, none of a function. A pure
// function of an ElfImage; whatever the tables contain, nothing outside of its segments is read.
// Allocates for the result.
#ifndef JANKBOX_TRACER_HOOK_IMPORT_SCAN_H_
#define JANKBOX_TRACER_HOOK_IMPORT_SCAN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tracer/hook/dynamic_tables.h"
#include "tracer/hook/elf_image.h"

namespace jankbox {

struct ImportSlot {
  size_t symbol = 0;     // index into the wanted symbols
  uint64_t address = 0;  // of the slot: aligned, inside a segment
  // The address at which the module itself represents the function (an undefined symbol with a
  // value: the PLT entry whose address a non-PIC program hands out); 0: it does not.
  uint64_t canonical_address = 0;
  // Index in DT_JMPREL, which lazy binding pushes; -1 for slots that are never bound lazily.
  int64_t plt_index = -1;
};

enum class ScanResult : uint8_t {
  kComplete,        // also if the module imports nothing
  kCorrupt,         // tables that contradict themselves or the segments: no slots
  kUnknownMachine,  // whose relocation types are not known: no slots
  kUnknownPacking,  // packed relocations other than "APS2": the other tables' slots
};

struct ImportScan {
  ScanResult result = ScanResult::kComplete;
  std::vector<ImportSlot> slots;
  uint32_t unaligned_slots = 0;  // of wanted symbols, in packed structs: no atomic store there
  // Bytes of each relocation table, by RelocationTable, and of DT_JMPREL.
  std::array<uint64_t, kRelocationTables> table_bytes{};
  uint64_t jump_slot_bytes = 0;
};

// False if the relocation types of this machine are not known.
bool ImportScanSupported();

// `symbols` are distinct.
ImportScan ScanImports(const ElfImage& image, std::span<const std::string_view> symbols);

// True if `value`, found in `slot`, is the PLT code that binds the slot at its first call.
bool IsLazyBindingStub(const ElfImage& image, const ImportSlot& slot, uint64_t value);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_HOOK_IMPORT_SCAN_H_
