// No libelf on Android: frames are module and offset, named by the symbols kept with the build.
#include "diagnosis/symbols/elf_symbols.h"

namespace jankbox {

std::unique_ptr<ElfSymbols> ElfSymbols::Open(const std::string&) { return nullptr; }

}  // namespace jankbox
