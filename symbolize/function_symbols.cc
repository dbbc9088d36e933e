#include "symbolize/function_symbols.h"

#include <gelf.h>

#include "diagnosis/symbols/symbol_pass.h"

namespace jankbox {
namespace {

struct SymbolTable {
  Elf_Data* symbols = nullptr;
  size_t names = 0;  // section of its strings
};

SymbolTable FindTable(Elf* elf) {
  SymbolTable table;
  for (Elf_Scn* at = elf_nextscn(elf, nullptr); at != nullptr; at = elf_nextscn(elf, at)) {
    GElf_Shdr section;
    if (gelf_getshdr(at, &section) == nullptr) continue;
    const bool is_full = section.sh_type == SHT_SYMTAB;
    if (!is_full && (section.sh_type != SHT_DYNSYM || table.symbols != nullptr)) continue;
    Elf_Data* data = elf_getdata(at, nullptr);
    if (data == nullptr || data->d_buf == nullptr) continue;
    table = {data, section.sh_link};
    if (is_full) break;
  }
  return table;
}

bool IsFunction(const GElf_Sym& symbol) {
  const auto type = GELF_ST_TYPE(symbol.st_info);
  return symbol.st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_GNU_IFUNC);
}

}  // namespace

std::vector<std::string> FunctionSymbols(Elf* elf, const std::vector<uint64_t>& addresses) {
  std::vector<std::string> found(addresses.size());
  const SymbolTable table = FindTable(elf);
  GElf_Ehdr header;
  if (table.symbols == nullptr || gelf_getehdr(elf, &header) == nullptr) return found;
  // Of 32-bit ARM: the last bit says which instructions the function has.
  const uint64_t mask = header.e_machine == EM_ARM ? ~uint64_t{1} : ~uint64_t{0};
  SymbolPass pass(addresses);
  GElf_Sym symbol;
  for (int i = 0; gelf_getsym(table.symbols, i, &symbol) != nullptr; ++i) {
    if (!IsFunction(symbol)) continue;
    const auto binding = GELF_ST_BIND(symbol.st_info);
    const uint8_t rank = binding == STB_GLOBAL ? 2 : binding == STB_WEAK ? 1 : 0;
    pass.Add({symbol.st_value & mask, symbol.st_size, symbol.st_name, rank});
  }
  for (size_t i = 0; i < addresses.size(); ++i) {
    const FunctionSymbol* match = pass.Match(i);
    const char* name =
        match == nullptr ? nullptr : elf_strptr(elf, table.names, match->name_offset);
    if (name != nullptr) found[i] = name;
  }
  return found;
}

}  // namespace jankbox
