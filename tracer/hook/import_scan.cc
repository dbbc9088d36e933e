#include "tracer/hook/import_scan.h"

#include <elf.h>

#include "tracer/hook/relocation_types.h"

namespace jankbox {
namespace {

// Android's packed relocations (bionic's linker; not in every elf.h).
constexpr int64_t kDtAndroidRel = 0x6000000f;
constexpr int64_t kDtAndroidRela = 0x60000011;

constexpr uint64_t kSlotBytes = sizeof(void*);

struct Tables {
  uint64_t strings = 0;
  uint64_t strings_size = 0;
  uint64_t symbols = 0;
  uint64_t jump_slots = 0;
  uint64_t jump_slots_size = 0;
  uint64_t relocations = 0;
  uint64_t relocations_size = 0;
  uint64_t entry_size = sizeof(Elf64_Rela);
  uint64_t symbol_size = sizeof(Elf64_Sym);
  int64_t jump_slot_format = DT_RELA;
};

void TakeEntry(const ElfImage& image, const Elf64_Dyn& entry, Tables* tables, ImportScan* scan) {
  const uint64_t value = entry.d_un.d_val;
  switch (entry.d_tag) {
    case DT_STRTAB:
      tables->strings = image.FromDynamicPointer(value);
      break;
    case DT_STRSZ:
      tables->strings_size = value;
      break;
    case DT_SYMTAB:
      tables->symbols = image.FromDynamicPointer(value);
      break;
    case DT_SYMENT:
      tables->symbol_size = value;
      break;
    case DT_JMPREL:
      tables->jump_slots = image.FromDynamicPointer(value);
      break;
    case DT_PLTRELSZ:
      tables->jump_slots_size = value;
      break;
    case DT_PLTREL:
      tables->jump_slot_format = static_cast<int64_t>(value);
      break;
    case DT_RELA:
      tables->relocations = image.FromDynamicPointer(value);
      break;
    case DT_RELASZ:
      tables->relocations_size = value;
      break;
    case DT_RELAENT:
      tables->entry_size = value;
      break;
    case DT_REL:
      scan->rel_tables = true;
      break;
    case kDtAndroidRel:
    case kDtAndroidRela:
      scan->packed_tables = true;
      break;
    default:
      break;
  }
}

bool ReadTables(const ElfImage& image, Tables* tables, ImportScan* scan) {
  const uint64_t entries = image.dynamic_size() / sizeof(Elf64_Dyn);
  for (uint64_t i = 0; i < entries; ++i) {
    Elf64_Dyn entry;
    if (!image.Read(image.dynamic_address() + i * sizeof(entry), &entry)) return false;
    if (entry.d_tag == DT_NULL) break;
    TakeEntry(image, entry, tables, scan);
  }
  if (tables->jump_slots_size != 0 && tables->jump_slot_format != DT_RELA) {
    scan->rel_tables = true;
    tables->jump_slots_size = 0;
  }
  return tables->entry_size == sizeof(Elf64_Rela) && tables->symbol_size == sizeof(Elf64_Sym) &&
         (tables->strings_size == 0 ||
          image.Locate(tables->strings, tables->strings_size) != nullptr);
}

class Scanner {
 public:
  Scanner(const ElfImage& image, std::span<const std::string_view> wanted, const Tables& tables,
          ImportScan* scan)
      : image_(image), wanted_(wanted), tables_(tables), scan_(scan) {}

  // False where the table or an entry of it lies outside of the image.
  bool ScanTable(uint64_t table, uint64_t size, bool jump_slots) {
    if (size == 0) return true;
    if (size % sizeof(Elf64_Rela) != 0 || image_.Locate(table, size) == nullptr) return false;
    const uint64_t count = size / sizeof(Elf64_Rela);
    for (uint64_t i = 0; i < count; ++i) {
      Elf64_Rela entry;
      if (!image_.Read(table + i * sizeof(entry), &entry)) return false;
      if (!TakeRelocation(entry, jump_slots ? static_cast<int64_t>(i) : -1)) return false;
    }
    return true;
  }

 private:
  bool TakeRelocation(const Elf64_Rela& entry, int64_t plt_index) {
    const uint32_t type = static_cast<uint32_t>(ELF64_R_TYPE(entry.r_info));
    const uint64_t symbol_index = ELF64_R_SYM(entry.r_info);
    if (type != kJumpSlotType && type != kGlobDatType && type != kAbsoluteType) return true;
    if (symbol_index == 0 || (type == kAbsoluteType && entry.r_addend != 0)) return true;
    Elf64_Sym symbol;
    if (!image_.Read(tables_.symbols + symbol_index * sizeof(symbol), &symbol)) return false;
    if (symbol.st_name >= tables_.strings_size) return false;
    const std::string_view* name = FindWanted(symbol.st_name);
    if (name == nullptr) return true;
    ImportSlot slot;
    slot.symbol = static_cast<size_t>(name - wanted_.data());
    slot.address = image_.load_bias() + entry.r_offset;
    if (slot.address % kSlotBytes != 0 || image_.Locate(slot.address, kSlotBytes) == nullptr) {
      return false;
    }
    if (symbol.st_shndx == SHN_UNDEF && symbol.st_value != 0) {
      slot.canonical_address = image_.load_bias() + symbol.st_value;
    }
    slot.plt_index = type == kJumpSlotType ? plt_index : -1;
    scan_->slots.push_back(slot);
    return true;
  }

  const std::string_view* FindWanted(uint64_t name_offset) const {
    for (const std::string_view& name : wanted_) {
      if (name.size() < tables_.strings_size - name_offset &&
          image_.TextEquals(tables_.strings + name_offset, name)) {
        return &name;
      }
    }
    return nullptr;
  }

  const ElfImage& image_;
  const std::span<const std::string_view> wanted_;
  const Tables& tables_;
  ImportScan* scan_;
};

}  // namespace

bool ImportScanSupported() { return kRelocationsKnown; }

ImportScan ScanImports(const ElfImage& image, std::span<const std::string_view> symbols) {
  ImportScan scan;
  if (!kRelocationsKnown || image.dynamic_address() == 0) return scan;
  Tables tables;
  scan.corrupt = !ReadTables(image, &tables, &scan);
  if (!scan.corrupt) {
    Scanner scanner(image, symbols, tables, &scan);
    scan.corrupt = !scanner.ScanTable(tables.jump_slots, tables.jump_slots_size, true) ||
                   !scanner.ScanTable(tables.relocations, tables.relocations_size, false);
  }
  if (scan.corrupt) scan.slots.clear();
  return scan;
}

bool IsLazyBindingStub(const ElfImage& image, const ImportSlot& slot, uint64_t value) {
  return slot.plt_index >= 0 && IsLazyBindingCode(image, value, slot.plt_index);
}

}  // namespace jankbox
