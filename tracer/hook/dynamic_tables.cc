#include "tracer/hook/dynamic_tables.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace jankbox {
namespace {

// Not in every elf.h: RELR of the generic ABI, and bionic's own (its linker's documentation).
constexpr uint64_t kDtRelrSize = 35, kDtRelr = 36, kDtRelrEntry = 37;
constexpr uint64_t kDtAndroidRel = 0x6000000f, kDtAndroidRelSize = 0x60000010;
constexpr uint64_t kDtAndroidRela = 0x60000011, kDtAndroidRelaSize = 0x60000012;
constexpr uint64_t kDtAndroidRelr = 0x6fffe000, kDtAndroidRelrSize = 0x6fffe001;
constexpr uint64_t kDtAndroidRelrEntry = 0x6fffe003;

// Which field of DynamicTables an entry gives.
struct Field {
  uint64_t tag;
  uint64_t* value;
  bool is_pointer;
};

// Values that linkers write into DT_*ENT; others are an unknown format.
struct EntrySizes {
  uint64_t symbol = 0;
  uint64_t rel = 0;
  uint64_t rela = 0;
  uint64_t relr = 0;
  uint64_t plt_format = DT_RELA;

  bool AreThoseOf(const ElfFormat& format) const {
    const uint64_t word = format.word_bytes();
    auto is = [](uint64_t size, uint64_t expected) { return size == 0 || size == expected; };
    return is(symbol, format.is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym)) && is(rel, 2 * word) &&
           is(rela, 3 * word) && is(relr, word) && (plt_format == DT_RELA || plt_format == DT_REL);
  }
};

bool ReadFields(const ElfImage& image, const Field* begin, const Field* end) {
  const uint64_t word = image.format().word_bytes();
  for (uint64_t i = 0; i < image.dynamic_size() / (2 * word); ++i) {
    uint64_t tag = 0, value = 0;
    const uint64_t entry = image.dynamic_address() + i * 2 * word;
    if (!image.ReadWord(entry, &tag) || !image.ReadWord(entry + word, &value)) return false;
    if (tag == DT_NULL) break;
    const Field* field = std::find_if(begin, end, [tag](const Field& f) { return f.tag == tag; });
    if (field != end) *field->value = field->is_pointer ? image.FromDynamicPointer(value) : value;
  }
  return true;
}

bool LiesInside(const ElfImage& image, const ElfTable& table) {
  return table.size == 0 || image.Locate(table.address, table.size) != nullptr;
}

ElfTable& Table(DynamicTables* tables, RelocationTable kind) {
  return tables->relocations[static_cast<size_t>(kind)];
}

}  // namespace

bool ReadDynamicTables(const ElfImage& image, DynamicTables* tables) {
  ElfTable& rel = Table(tables, RelocationTable::kRel);
  ElfTable& rela = Table(tables, RelocationTable::kRela);
  ElfTable& packed_rel = Table(tables, RelocationTable::kPackedRel);
  ElfTable& packed_rela = Table(tables, RelocationTable::kPackedRela);
  ElfTable& relr = Table(tables, RelocationTable::kRelr);
  EntrySizes sizes;
  const Field fields[] = {
      {DT_STRTAB, &tables->strings.address, true},
      {DT_STRSZ, &tables->strings.size, false},
      {DT_SYMTAB, &tables->symbols, true},
      {DT_SYMENT, &sizes.symbol, false},
      {DT_JMPREL, &tables->jump_slots.address, true},
      {DT_PLTRELSZ, &tables->jump_slots.size, false},
      {DT_PLTREL, &sizes.plt_format, false},
      {DT_REL, &rel.address, true},
      {DT_RELSZ, &rel.size, false},
      {DT_RELENT, &sizes.rel, false},
      {DT_RELCOUNT, &rel.relative, false},
      {DT_RELA, &rela.address, true},
      {DT_RELASZ, &rela.size, false},
      {DT_RELAENT, &sizes.rela, false},
      {DT_RELACOUNT, &rela.relative, false},
      {kDtAndroidRel, &packed_rel.address, true},
      {kDtAndroidRelSize, &packed_rel.size, false},
      {kDtAndroidRela, &packed_rela.address, true},
      {kDtAndroidRelaSize, &packed_rela.size, false},
      {kDtRelr, &relr.address, true},
      {kDtRelrSize, &relr.size, false},
      {kDtRelrEntry, &sizes.relr, false},
      {kDtAndroidRelr, &relr.address, true},
      {kDtAndroidRelrSize, &relr.size, false},
      {kDtAndroidRelrEntry, &sizes.relr, false},
  };
  if (!ReadFields(image, std::begin(fields), std::end(fields))) return false;
  tables->jump_slots_have_addends = sizes.plt_format == DT_RELA;
  if (!sizes.AreThoseOf(image.format())) return false;
  return LiesInside(image, tables->strings) && LiesInside(image, tables->jump_slots) &&
         std::all_of(std::begin(tables->relocations), std::end(tables->relocations),
                     [&](const ElfTable& table) { return LiesInside(image, table); });
}

std::vector<std::string_view> NeededLibraries(const ElfImage& image) {
  std::vector<std::string_view> names;
  DynamicTables tables;
  if (image.dynamic_address() == 0 || !ReadDynamicTables(image, &tables)) return names;
  const auto* strings =
      reinterpret_cast<const char*>(image.Locate(tables.strings.address, tables.strings.size));
  const uint64_t word = image.format().word_bytes();
  for (uint64_t i = 0; strings != nullptr && i < image.dynamic_size() / (2 * word); ++i) {
    uint64_t tag = 0, value = 0;
    const uint64_t entry = image.dynamic_address() + i * 2 * word;
    if (!image.ReadWord(entry, &tag) || !image.ReadWord(entry + word, &value) || tag == DT_NULL) {
      break;
    }
    if (tag != DT_NEEDED || value >= tables.strings.size) continue;
    names.emplace_back(strings + value, strnlen(strings + value, tables.strings.size - value));
  }
  return names;
}

}  // namespace jankbox
