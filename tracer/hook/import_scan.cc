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
Symbol SymbolAt(const std::byte* bytes) {
  Sym raw;
  memcpy(&raw, bytes, sizeof(raw));
  return {raw.st_name, raw.st_value, raw.st_shndx == SHN_UNDEF};
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
        is_64_(image.format().is_64),
        word_(image.format().word_bytes()),
        types_(types),
        wanted_(wanted),
        tables_(tables),
        symbols_(image.From(tables.symbols)),
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
    const uint64_t entry_bytes = (has_addends ? 3 : 2) * word_;
    if (table.size % entry_bytes != 0) return false;
    const std::byte* bytes = image_.Locate(table.address, table.size);
    const uint64_t entries = table.size / entry_bytes;
    for (uint64_t i = table.relative; i < entries; ++i) {
      if (i + 2 * kAhead < entries) FetchSymbol(bytes + (i + 2 * kAhead) * entry_bytes);
      if (i + kAhead < entries) FetchName(bytes + (i + kAhead) * entry_bytes);
      // Some linkers let DT_RELASZ span DT_JMPREL too.
      const uint64_t from_jump_slots = table.address + i * entry_bytes - tables_.jump_slots.address;
      if (!jump_slots && from_jump_slots < tables_.jump_slots.size) continue;
      const std::byte* entry = bytes + i * entry_bytes;
      const Relocation relocation = {WordAt(entry), WordAt(entry + word_),
                                     has_addends ? WordAt(entry + 2 * word_) : 0};
      if (!Take(relocation, jump_slots ? static_cast<int64_t>(i) : -1)) return false;
    }
    return true;
  }

  // Symbols and names lie anywhere, and most of them are in no cache: each is asked for early.
  void FetchSymbol(const std::byte* entry) const {
    const std::byte* symbol = SymbolBytes(IndexOf(WordAt(entry + word_)));
    if (symbol != nullptr) __builtin_prefetch(symbol);
  }
  void FetchName(const std::byte* entry) const {
    Symbol symbol;
    if (ReadSymbol(IndexOf(WordAt(entry + word_)), &symbol)) {
      __builtin_prefetch(strings_ + symbol.name);
    }
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
    const uint64_t type = relocation.info & (is_64_ ? 0xffffffff : 0xff);
    const uint64_t index = IndexOf(relocation.info);
    const bool absolute = type == types_.absolute && relocation.addend == 0;
    if (type != types_.jump_slot && type != types_.glob_dat && !absolute) return true;
    if (index == 0) return true;
    Symbol symbol;
    if (!ReadSymbol(index, &symbol)) return false;
    const int name = wanted_.Find(strings_ + symbol.name, tables_.strings.size - symbol.name);
    return name < 0 || AddSlot(static_cast<size_t>(name), symbol, relocation.offset,
                               type == types_.jump_slot ? plt_index : -1);
  }

  // Copies of a size that is known are one instruction.
  uint64_t WordAt(const std::byte* bytes) const {
    uint32_t half = 0;
    uint64_t word = 0;
    if (word_ == sizeof(half)) memcpy(&half, bytes, sizeof(half));
    if (word_ == sizeof(word)) memcpy(&word, bytes, sizeof(word));
    return word | half;
  }
  uint64_t IndexOf(uint64_t info) const { return info >> (is_64_ ? 32 : 8); }

  // Null: outside of the image.
  const std::byte* SymbolBytes(uint64_t index) const {
    const uint64_t size = is_64_ ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
    return index < symbols_.size() / size ? &symbols_[index * size] : nullptr;
  }

  bool ReadSymbol(uint64_t index, Symbol* symbol) const {
    const std::byte* bytes = SymbolBytes(index);
    if (bytes == nullptr) return false;
    *symbol = is_64_ ? SymbolAt<Elf64_Sym>(bytes) : SymbolAt<Elf32_Sym>(bytes);
    return strings_ != nullptr && symbol->name < tables_.strings.size;
  }

  bool AddSlot(size_t wanted, const Symbol& symbol, uint64_t offset, int64_t plt_index) {
    ImportSlot slot;
    slot.symbol = wanted;
    slot.address = image_.AtRunTime(offset);
    slot.plt_index = plt_index;
    if (image_.Locate(slot.address, word_) == nullptr) return false;
    if (slot.address % word_ != 0) {
      ++scan_->unaligned_slots;
      return true;
    }
    if (symbol.undefined && symbol.value != 0) {
      slot.canonical_address = image_.AtRunTime(symbol.value);
    }
    scan_->slots.push_back(slot);
    return true;
  }

  static constexpr uint64_t kAhead = 16;  // relocations

  const ElfImage& image_;
  const bool is_64_;
  const uint64_t word_;  // bytes
  const RelocationTypes& types_;
  const WantedNames& wanted_;
  const DynamicTables& tables_;
  const std::span<const std::byte> symbols_;  // and what follows them
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
