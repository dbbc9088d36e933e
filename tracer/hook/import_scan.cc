#include "tracer/hook/import_scan.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "base/dcheck.h"
#include "tracer/hook/packed_relocations.h"
#include "tracer/hook/relocation_types.h"

namespace jankbox {
namespace {

struct Symbol {
  uint64_t name = 0;   // offset into the strings
  uint64_t value = 0;  // as in the file
  bool undefined = false;
};

template <typename Sym>
bool ReadSymbolAs(const ElfImage& image, uint64_t address, Symbol* symbol) {
  Sym raw;
  if (!image.Read(address, &raw)) return false;
  *symbol = {raw.st_name, raw.st_value, raw.st_shndx == SHN_UNDEF};
  return true;
}

// The wanted names by their first bytes: a large program's modules import 50,000 others.
class WantedNames {
 public:
  explicit WantedNames(std::span<const std::string_view> names)
      : names_(names), next_(new uint16_t[names.size()]) {
    first_.fill(kNone);
    DCHECK(names.size() < kNone);
    for (size_t i = names.size(); i-- > 0;) {
      uint16_t& first =
          first_[BucketOf(reinterpret_cast<const std::byte*>(names[i].data()), names[i].size())];
      next_[i] = std::exchange(first, static_cast<uint16_t>(i));
    }
  }

  // The index of the name that is the zero-terminated text in the `size` bytes; -1: not wanted.
  int Find(const std::byte* text, uint64_t size) const {
    for (uint16_t i = first_[BucketOf(text, size)]; i != kNone; i = next_[i]) {
      const std::string_view name = names_[i];
      if (name.size() < size && memcmp(text, name.data(), name.size()) == 0 &&
          text[name.size()] == std::byte{0}) {
        return i;
      }
    }
    return -1;
  }

 private:
  static constexpr uint16_t kNone = UINT16_MAX;

  // Of the text's first three bytes, less those from its terminating zero on.
  static uint8_t BucketOf(const std::byte* text, uint64_t size) {
    uint32_t hash = 0;
    for (uint64_t i = 0; i < std::min<uint64_t>(size, 3) && text[i] != std::byte{0}; ++i) {
      hash = hash * 31 + std::to_integer<uint32_t>(text[i]);
    }
    return static_cast<uint8_t>(hash);
  }

  const std::span<const std::string_view> names_;
  std::array<uint16_t, 256> first_;
  const std::unique_ptr<uint16_t[]> next_;  // in the same bucket
};

class Scanner {
 public:
  Scanner(const ElfImage& image, const RelocationTypes& types, const WantedNames& wanted,
          const DynamicTables& tables, ImportScan* scan)
      : image_(image),
        types_(types),
        wanted_(wanted),
        tables_(tables),
        strings_(image.Locate(tables.strings.address, tables.strings.size)),
        scan_(scan) {}

  // False if a table or an entry of it is outside of the image.
  bool ScanAll() {
    return ScanPlain(tables_.jump_slots, tables_.jump_slots_have_addends, /*jump_slots=*/true) &&
           ScanPlain(Table(RelocationTable::kRel), false, false) &&
           ScanPlain(Table(RelocationTable::kRela), true, false) &&
           ScanPacked(Table(RelocationTable::kPackedRel)) &&
           ScanPacked(Table(RelocationTable::kPackedRela));
  }

 private:
  const ElfTable& Table(RelocationTable kind) const {
    return tables_.relocations[static_cast<size_t>(kind)];
  }

  bool ScanPlain(const ElfTable& table, bool has_addends, bool jump_slots) {
    const uint64_t word = image_.format().word_bytes();
    const uint64_t entry_bytes = (has_addends ? 3 : 2) * word;
    if (table.size % entry_bytes != 0) return false;
    const std::byte* bytes = image_.Locate(table.address, table.size);
    for (uint64_t i = table.relative; i < table.size / entry_bytes; ++i) {
      // Some linkers let DT_RELASZ span DT_JMPREL too.
      const uint64_t from_jump_slots = table.address + i * entry_bytes - tables_.jump_slots.address;
      if (!jump_slots && from_jump_slots < tables_.jump_slots.size) continue;
      uint64_t words[3] = {};  // offset, info, addend
      for (uint64_t at = 0; at < entry_bytes; at += word) {
        memcpy(&words[at / word], bytes + i * entry_bytes + at, word);
      }
      const Relocation relocation = {words[0], words[1], words[2]};
      if (!Take(relocation, jump_slots ? static_cast<int64_t>(i) : -1)) return false;
    }
    return true;
  }

  bool ScanPacked(const ElfTable& table) {
    if (table.size == 0) return true;
    PackedRelocations packed(image_, table);
    Relocation relocation;
    while (packed.Next(&relocation)) {
      if (!Take(relocation, -1)) return false;
    }
    if (packed.state() == PackedRelocations::State::kUnknown) {
      scan_->result = ScanResult::kUnknownPacking;
      return true;
    }
    return packed.state() == PackedRelocations::State::kEnd;
  }

  // An absolute relocation with an addend is the address of something after the function. (That
  // of a DT_REL entry is not there any more once the loader has been: the slot's value then is not
  // the function's address.)
  bool Take(const Relocation& relocation, int64_t plt_index) {
    const bool is_64 = image_.format().is_64;
    const uint64_t type = is_64 ? relocation.info & 0xffffffff : relocation.info & 0xff;
    const uint64_t index = is_64 ? relocation.info >> 32 : relocation.info >> 8;
    const bool absolute = type == types_.absolute && relocation.addend == 0;
    if (type != types_.jump_slot && type != types_.glob_dat && !absolute) return true;
    if (index == 0) return true;
    Symbol symbol;
    if (!ReadSymbol(index, &symbol)) return false;
    const int name = wanted_.Find(strings_ + symbol.name, tables_.strings.size - symbol.name);
    return name < 0 || AddSlot(static_cast<size_t>(name), symbol, relocation.offset,
                               type == types_.jump_slot ? plt_index : -1);
  }

  bool ReadSymbol(uint64_t index, Symbol* symbol) const {
    const uint64_t size = image_.format().is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
    const uint64_t address = tables_.symbols + index * size;
    const bool read = image_.format().is_64 ? ReadSymbolAs<Elf64_Sym>(image_, address, symbol)
                                            : ReadSymbolAs<Elf32_Sym>(image_, address, symbol);
    return read && strings_ != nullptr && symbol->name < tables_.strings.size;
  }

  bool AddSlot(size_t wanted, const Symbol& symbol, uint64_t offset, int64_t plt_index) {
    const uint64_t word = image_.format().word_bytes();
    ImportSlot slot;
    slot.symbol = wanted;
    slot.address = image_.AtRunTime(offset);
    slot.plt_index = plt_index;
    if (image_.Locate(slot.address, word) == nullptr) return false;
    if (slot.address % word != 0) {
      ++scan_->unaligned_slots;
      return true;
    }
    if (symbol.undefined && symbol.value != 0) {
      slot.canonical_address = image_.AtRunTime(symbol.value);
    }
    scan_->slots.push_back(slot);
    return true;
  }

  const ElfImage& image_;
  const RelocationTypes& types_;
  const WantedNames& wanted_;
  const DynamicTables& tables_;
  const std::byte* const strings_;
  ImportScan* scan_;
};

}  // namespace

bool ImportScanSupported() { return RelocationTypesOf(ElfFormat::Native()) != nullptr; }

ImportScan ScanImports(const ElfImage& image, std::span<const std::string_view> symbols) {
  ImportScan scan;
  const RelocationTypes* types = RelocationTypesOf(image.format());
  if (types == nullptr) {
    scan.result = ScanResult::kUnknownMachine;
    return scan;
  }
  if (image.dynamic_address() == 0) return scan;
  DynamicTables tables;
  if (!ReadDynamicTables(image, &tables) ||
      !Scanner(image, *types, WantedNames(symbols), tables, &scan).ScanAll()) {
    return {.result = ScanResult::kCorrupt};
  }
  for (size_t i = 0; i < kRelocationTables; ++i) {
    scan.table_bytes[i] = tables.relocations[i].size;
  }
  scan.jump_slot_bytes = tables.jump_slots.size;
  return scan;
}

bool IsLazyBindingStub(const ElfImage& image, const ImportSlot& slot, uint64_t value) {
  return slot.plt_index >= 0 && IsLazyBindingCode(image, value, slot.plt_index);
}

}  // namespace jankbox
