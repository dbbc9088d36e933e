#include "tests/tracer/hook/elf_file_slots.h"

#include <fcntl.h>
#include <gelf.h>

#include <functional>
#include <optional>

#include "base/scoped_fd.h"

namespace jankbox {
namespace {

using SectionVisitor = std::function<void(Elf*, Elf_Scn*, const GElf_Shdr&)>;

void ForEachSection(const std::string& path, const SectionVisitor& visit) {
  elf_version(EV_CURRENT);
  const ScopedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  Elf* elf = elf_begin(fd.get(), ELF_C_READ, nullptr);
  if (elf == nullptr) return;
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) != nullptr) visit(elf, section, header);
  }
  elf_end(elf);
}

std::optional<SlotKind> KindOf(uint64_t machine, uint64_t type) {
  struct Types {
    uint64_t machine, jump_slot, glob_dat, absolute;
  };
  constexpr Types kTypes[] = {
      {EM_X86_64, R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_64},
      {EM_AARCH64, R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_ABS64},
      {EM_386, R_386_JMP_SLOT, R_386_GLOB_DAT, R_386_32},
      {EM_ARM, R_ARM_JUMP_SLOT, R_ARM_GLOB_DAT, R_ARM_ABS32},
  };
  for (const Types& types : kTypes) {
    if (types.machine != machine) continue;
    if (type == types.jump_slot) return SlotKind::kJumpSlot;
    if (type == types.glob_dat) return SlotKind::kGlobDat;
    if (type == types.absolute) return SlotKind::kAbsolute;
  }
  return std::nullopt;
}

bool ReadEntry(Elf_Data* entries, const GElf_Shdr& header, int index, GElf_Rela* entry) {
  if (header.sh_type == SHT_RELA) return gelf_getrela(entries, index, entry) != nullptr;
  GElf_Rel without_addend;
  if (gelf_getrel(entries, index, &without_addend) == nullptr) return false;
  *entry = {without_addend.r_offset, without_addend.r_info, 0};
  return true;
}

void AddSlots(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, const std::string& wanted,
              std::map<uint64_t, SlotKind>* slots) {
  GElf_Ehdr file;
  GElf_Shdr symbols_header;
  Elf_Scn* symbols = elf_getscn(elf, header.sh_link);
  if (gelf_getehdr(elf, &file) == nullptr || symbols == nullptr ||
      gelf_getshdr(symbols, &symbols_header) == nullptr) {
    return;
  }
  Elf_Data* entries = elf_getdata(section, nullptr);
  Elf_Data* names = elf_getdata(symbols, nullptr);
  for (int i = 0; i < static_cast<int>(header.sh_size / header.sh_entsize); ++i) {
    GElf_Rela entry;
    GElf_Sym symbol;
    if (!ReadEntry(entries, header, i, &entry)) continue;
    const std::optional<SlotKind> kind = KindOf(file.e_machine, GELF_R_TYPE(entry.r_info));
    if (!kind || (*kind == SlotKind::kAbsolute && entry.r_addend != 0)) continue;
    const int index = static_cast<int>(GELF_R_SYM(entry.r_info));
    if (index == 0 || gelf_getsym(names, index, &symbol) == nullptr) continue;
    const char* name = elf_strptr(elf, symbols_header.sh_link, symbol.st_name);
    if (name != nullptr && wanted == name) slots->emplace(entry.r_offset, *kind);
  }
}

}  // namespace

std::map<uint64_t, SlotKind> SlotKindsInElfFile(const std::string& path,
                                                const std::string& symbol) {
  std::map<uint64_t, SlotKind> slots;
  ForEachSection(path, [&](Elf* elf, Elf_Scn* section, const GElf_Shdr& header) {
    if (header.sh_type != SHT_RELA && header.sh_type != SHT_REL) return;
    AddSlots(elf, section, header, symbol, &slots);
  });
  return slots;
}

std::set<uint64_t> SlotsInElfFile(const std::string& path, const std::string& symbol) {
  std::set<uint64_t> slots;
  for (const auto& [address, kind] : SlotKindsInElfFile(path, symbol)) slots.insert(address);
  return slots;
}

std::pair<std::string, uint64_t> PlaceInElfFile(const std::string& path, uint64_t address) {
  std::pair<std::string, uint64_t> place("nowhere", address);
  ForEachSection(path, [&](Elf* elf, Elf_Scn*, const GElf_Shdr& header) {
    size_t names = 0;
    if ((header.sh_flags & SHF_ALLOC) == 0 || address < header.sh_addr ||
        address - header.sh_addr >= header.sh_size || elf_getshdrstrndx(elf, &names) != 0) {
      return;
    }
    place = {elf_strptr(elf, names, header.sh_name), address - header.sh_addr};
  });
  return place;
}

uint64_t SectionBytes(const std::string& path, uint32_t type) {
  uint64_t bytes = 0;
  ForEachSection(path, [&](Elf*, Elf_Scn*, const GElf_Shdr& header) {
    if (header.sh_type == type) bytes += header.sh_size;
  });
  return bytes;
}

}  // namespace jankbox
