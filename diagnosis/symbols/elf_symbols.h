// The function symbols of an ELF file. Headers are read by libelf (loaded at run time), the tables
// in small pieces by pread: a symbol table may have 100 MB. Cold path: reads files, allocates.
#ifndef JANKBOX_DIAGNOSIS_SYMBOLS_ELF_SYMBOLS_H_
#define JANKBOX_DIAGNOSIS_SYMBOLS_ELF_SYMBOLS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "diagnosis/symbols/symbol_pass.h"

namespace jankbox {

class ElfSymbols {
 public:
  virtual ~ElfSymbols() = default;

  // Null if the file cannot be read, is not an ELF file of this machine's class, or libelf is
  // not installed.
  static std::unique_ptr<ElfSymbols> Open(const std::string& path);

  // Lower-case hexadecimal; empty if there is none.
  virtual std::string BuildId() = 0;

  // kDynamic is .dynsym, which strip leaves; kFull is .symtab.
  enum class Table : uint8_t { kDynamic, kFull };

  virtual bool Has(Table table) const = 0;

  // Passes every defined function of `table`.
  virtual void ForEachFunction(Table table,
                               const std::function<void(const FunctionSymbol&)>& visit) = 0;

  // The name at an offset that a symbol of `table` gave; empty if that is out of range.
  virtual std::string NameAt(Table table, uint32_t offset) = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SYMBOLS_ELF_SYMBOLS_H_
