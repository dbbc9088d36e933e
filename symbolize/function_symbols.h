// The function symbols of an ELF file of any class and machine, for a batch of addresses, by
// libelf. In a worker only: the file may be hostile.
#ifndef JANKBOX_SYMBOLIZE_FUNCTION_SYMBOLS_H_
#define JANKBOX_SYMBOLIZE_FUNCTION_SYMBOLS_H_

#include <libelf.h>

#include <string>
#include <vector>

namespace jankbox {

// The symbol, as it is in the file, of each of `addresses` (sorted, without repeats); empty where
// none covers it. From .symtab, else .dynsym.
std::vector<std::string> FunctionSymbols(Elf* elf, const std::vector<uint64_t>& addresses);

}  // namespace jankbox

#endif  // JANKBOX_SYMBOLIZE_FUNCTION_SYMBOLS_H_
