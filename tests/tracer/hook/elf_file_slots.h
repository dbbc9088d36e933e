// The oracle for import slots: libelf's reading of the file on disk, of either class.
#ifndef JANKBOX_TESTS_TRACER_HOOK_ELF_FILE_SLOTS_H_
#define JANKBOX_TESTS_TRACER_HOOK_ELF_FILE_SLOTS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace jankbox {

enum class SlotKind { kJumpSlot, kGlobDat, kAbsolute };

// Addresses in the file (without load bias) of the JUMP_SLOT, GLOB_DAT and absolute relocations
// against `symbol`, not those in packed tables, which libelf cannot read.
std::map<uint64_t, SlotKind> SlotKindsInElfFile(const std::string& path, const std::string& symbol);
std::set<uint64_t> SlotsInElfFile(const std::string& path, const std::string& symbol);

// The section that holds `address`, and the offset in it: the same in all files that differ in how
// their relocations are packed alone.
std::pair<std::string, uint64_t> PlaceInElfFile(const std::string& path, uint64_t address);

// Bytes of the sections of `type` (SHT_*).
uint64_t SectionBytes(const std::string& path, uint32_t type);

}  // namespace jankbox

#endif  // JANKBOX_TESTS_TRACER_HOOK_ELF_FILE_SLOTS_H_
