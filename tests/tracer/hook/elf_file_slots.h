// The oracle for import slots: libelf's reading of the file on disk.
#ifndef JANKBOX_TESTS_TRACER_HOOK_ELF_FILE_SLOTS_H_
#define JANKBOX_TESTS_TRACER_HOOK_ELF_FILE_SLOTS_H_

#include <cstdint>
#include <set>
#include <string>

namespace jankbox {

// Addresses in the file (without load bias) of the JUMP_SLOT, GLOB_DAT and absolute relocations
// against `symbol`.
std::set<uint64_t> SlotsInElfFile(const std::string& path, const std::string& symbol);

}  // namespace jankbox

#endif  // JANKBOX_TESTS_TRACER_HOOK_ELF_FILE_SLOTS_H_
