#include "tests/tracer/hook/elf_file_slots.h"

#include <fcntl.h>
#include <gelf.h>

#include "base/scoped_fd.h"

namespace jankbox {
namespace {

bool NamesAFunctionSlot(uint64_t machine, uint64_t type) {
  if (machine == EM_X86_64) {
    return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_64;
  }
  return machine == EM_AARCH64 &&
         (type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT || type == R_AARCH64_ABS64);
}

void AddSection(Elf* elf, Elf_Scn* section, const std::string& wanted, std::set<uint64_t>* slots) {
  GElf_Ehdr file;
  GElf_Shdr header, symbols_header;
  gelf_getehdr(elf, &file);
  gelf_getshdr(section, &header);
  if (header.sh_type != SHT_RELA) return;
  Elf_Scn* symbols = elf_getscn(elf, header.sh_link);
  if (symbols == nullptr || gelf_getshdr(symbols, &symbols_header) == nullptr) return;
  Elf_Data* entries = elf_getdata(section, nullptr);
  Elf_Data* names = elf_getdata(symbols, nullptr);
  for (int i = 0; i < static_cast<int>(header.sh_size / header.sh_entsize); ++i) {
    GElf_Rela entry;
    GElf_Sym symbol;
    if (gelf_getrela(entries, i, &entry) == nullptr) continue;
    if (!NamesAFunctionSlot(file.e_machine, GELF_R_TYPE(entry.r_info))) continue;
    const int index = static_cast<int>(GELF_R_SYM(entry.r_info));
    if (index == 0 || gelf_getsym(names, index, &symbol) == nullptr) continue;
    const char* name = elf_strptr(elf, symbols_header.sh_link, symbol.st_name);
    if (name != nullptr && wanted == name) slots->insert(entry.r_offset);
  }
}

}  // namespace

std::set<uint64_t> SlotsInElfFile(const std::string& path, const std::string& symbol) {
  std::set<uint64_t> slots;
  elf_version(EV_CURRENT);
  const ScopedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  Elf* elf = elf_begin(fd.get(), ELF_C_READ, nullptr);
  if (elf == nullptr) return slots;
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf, section)) != nullptr) {
    AddSection(elf, section, symbol, &slots);
  }
  elf_end(elf);
  return slots;
}

}  // namespace jankbox
