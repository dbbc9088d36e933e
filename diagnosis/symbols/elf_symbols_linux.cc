#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>

#include "base/memory/memory_room.h"
#include "base/private_library.h"
#include "base/scoped_fd.h"
#include "diagnosis/symbols/elf_symbols.h"
#include "tracer/unwind/build_id_note.h"

namespace jankbox {

namespace {

constexpr size_t kMaxNameBytes = 4096;
constexpr size_t kSymbolsAtATime = 2048;
constexpr size_t kMaxNoteBytes = 4096;
constexpr unsigned char kOwnClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;

struct ElfLibrary {
  void* handle = nullptr;
  decltype(elf_version)* version = nullptr;
  decltype(elf_begin)* begin = nullptr;
  decltype(elf_end)* end = nullptr;
  decltype(elf_nextscn)* next_section = nullptr;
  decltype(elf_getscn)* section = nullptr;
  decltype(gelf_getehdr)* header = nullptr;
  decltype(gelf_getshdr)* section_header = nullptr;
  bool bound = false;
  bool may_come = false;  // there was no memory for it

  ElfLibrary() {
    handle = OpenPrivateLibrary("libelf.so.1");
    may_come = handle == nullptr && NoMemoryForLibrary();
    bound = handle != nullptr && BindSymbol(handle, "elf_version", &version) &&
            BindSymbol(handle, "elf_begin", &begin) && BindSymbol(handle, "elf_end", &end) &&
            BindSymbol(handle, "elf_nextscn", &next_section) &&
            BindSymbol(handle, "elf_getscn", &section) &&
            BindSymbol(handle, "gelf_getehdr", &header) &&
            BindSymbol(handle, "gelf_getshdr", &section_header) && version(EV_CURRENT) != EV_NONE;
  }
};

// Null if it cannot be used, for now at least.
const ElfLibrary* TheElfLibrary() {
  static constinit std::atomic<const ElfLibrary*> known{nullptr};
  const ElfLibrary* library = known.load(std::memory_order_acquire);
  if (library == nullptr) {
    auto loaded = std::make_unique<ElfLibrary>();
    if (loaded->may_come) return nullptr;
    library = loaded.release();
    known.store(library, std::memory_order_release);
  }
  return library->bound ? library : nullptr;
}

struct Section {
  uint64_t offset = 0;
  uint64_t size = 0;
};

struct SymbolSections {
  Section symbols;
  Section names;
};

class LinuxElfSymbols final : public ElfSymbols {
 public:
  LinuxElfSymbols(ScopedFd file, uint64_t file_size, Elf* elf)
      : file_(std::move(file)), file_size_(file_size), elf_(elf) {}
  ~LinuxElfSymbols() override { TheElfLibrary()->end(elf_); }

  bool ReadSections();
  std::string BuildId() override;
  bool Has(Table table) const override { return Of(table).symbols.size != 0; }
  void ForEachFunction(Table table,
                       const std::function<void(const FunctionSymbol&)>& visit) override;
  std::string NameAt(Table table, uint32_t offset) override;

 private:
  const SymbolSections& Of(Table table) const { return tables_[static_cast<size_t>(table)]; }
  size_t ReadAt(const Section& section, uint64_t offset, void* into, size_t size) const;
  bool SectionOf(const GElf_Shdr& header, Section* section) const;
  void TakeSymbolTable(const GElf_Shdr& header);
  bool IsFunction(const ElfW(Sym) & symbol) const;

  ScopedFd file_;
  uint64_t file_size_;
  Elf* elf_;
  SymbolSections tables_[2];  // by Table
  std::vector<Section> notes_;
  std::vector<bool> executable_;  // by section number
};

bool LinuxElfSymbols::SectionOf(const GElf_Shdr& header, Section* section) const {
  if (header.sh_type == SHT_NOBITS || header.sh_offset > file_size_ ||
      header.sh_size > file_size_ - header.sh_offset) {
    return false;
  }
  *section = {header.sh_offset, header.sh_size};
  return true;
}

void LinuxElfSymbols::TakeSymbolTable(const GElf_Shdr& header) {
  const ElfLibrary& library = *TheElfLibrary();
  GElf_Shdr names;
  SymbolSections found;
  Elf_Scn* linked = library.section(elf_, header.sh_link);
  if (header.sh_entsize != sizeof(ElfW(Sym)) || linked == nullptr ||
      library.section_header(linked, &names) == nullptr || !SectionOf(header, &found.symbols) ||
      !SectionOf(names, &found.names) || (names.sh_flags & SHF_COMPRESSED) != 0) {
    return;
  }
  const Table table = header.sh_type == SHT_SYMTAB ? Table::kFull : Table::kDynamic;
  tables_[static_cast<size_t>(table)] = found;
}

// False if the file is not one of this machine's.
bool LinuxElfSymbols::ReadSections() {
  const ElfLibrary& library = *TheElfLibrary();
  GElf_Ehdr header;
  constexpr unsigned char kOwnOrder =
      std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  if (library.header(elf_, &header) == nullptr || header.e_ident[EI_CLASS] != kOwnClass ||
      header.e_ident[EI_DATA] != kOwnOrder) {
    return false;
  }
  executable_.push_back(false);  // section 0 represents none
  Elf_Scn* scn = nullptr;
  while ((scn = library.next_section(elf_, scn)) != nullptr) {
    GElf_Shdr section;
    if (library.section_header(scn, &section) == nullptr) return false;
    executable_.push_back((section.sh_flags & SHF_EXECINSTR) != 0);
    Section note;
    if (section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM) {
      TakeSymbolTable(section);
    } else if (section.sh_type == SHT_NOTE && SectionOf(section, &note)) {
      notes_.push_back(note);
    }
  }
  return true;
}

size_t LinuxElfSymbols::ReadAt(const Section& section, uint64_t offset, void* into,
                               size_t size) const {
  if (offset >= section.size) return 0;
  const size_t wanted = std::min<uint64_t>(size, section.size - offset);
  size_t done = 0;
  while (done < wanted) {
    const ssize_t got = pread(file_.get(), static_cast<char*>(into) + done, wanted - done,
                              static_cast<off_t>(section.offset + offset + done));
    if (got <= 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

std::string LinuxElfSymbols::BuildId() {
  for (const Section& note : notes_) {
    std::byte bytes[kMaxNoteBytes];
    const size_t got = ReadAt(note, 0, bytes, sizeof(bytes));
    std::string build_id = BuildIdOfNotes({bytes, got});
    if (!build_id.empty()) return build_id;
  }
  return {};
}

// Labels of assembly code have no type; local ones without a size mark places, not functions.
bool LinuxElfSymbols::IsFunction(const ElfW(Sym) & symbol) const {
  if (symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0) return false;
  switch (ELF64_ST_TYPE(symbol.st_info)) {
    case STT_FUNC:
    case STT_GNU_IFUNC:
      return true;
    case STT_NOTYPE:
      return symbol.st_shndx < executable_.size() && executable_[symbol.st_shndx] &&
             (symbol.st_size != 0 || ELF64_ST_BIND(symbol.st_info) != STB_LOCAL);
    default:
      return false;
  }
}

void LinuxElfSymbols::ForEachFunction(Table table,
                                      const std::function<void(const FunctionSymbol&)>& visit) {
  const Section& symbols = Of(table).symbols;
  std::vector<ElfW(Sym)> piece(kSymbolsAtATime);
  for (uint64_t offset = 0;;) {
    const size_t count =
        ReadAt(symbols, offset, piece.data(), piece.size() * sizeof(piece[0])) / sizeof(piece[0]);
    if (count == 0) return;
    for (size_t i = 0; i < count; ++i) {
      const ElfW(Sym)& symbol = piece[i];
      if (!IsFunction(symbol)) continue;
      const auto binding = ELF64_ST_BIND(symbol.st_info);
      const uint8_t rank = binding == STB_GLOBAL ? 2 : binding == STB_WEAK ? 1 : 0;
      visit({symbol.st_value, symbol.st_size, symbol.st_name, rank});
    }
    offset += count * sizeof(piece[0]);
  }
}

std::string LinuxElfSymbols::NameAt(Table table, uint32_t offset) {
  char name[kMaxNameBytes];
  const size_t got = ReadAt(Of(table).names, offset, name, sizeof(name));
  return std::string(name, strnlen(name, got));
}

}  // namespace

std::unique_ptr<ElfSymbols> ElfSymbols::Open(const std::string& path) {
  const ElfLibrary* library = TheElfLibrary();
  if (library == nullptr || !HasThreadData(library->handle)) return nullptr;
  // O_NONBLOCK: a path may have become a FIFO.
  ScopedFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file.valid() || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return nullptr;
  Elf* elf = library->begin(file.get(), ELF_C_READ, nullptr);
  if (elf == nullptr) return nullptr;
  auto symbols = std::make_unique<LinuxElfSymbols>(std::move(file),
                                                   static_cast<uint64_t>(status.st_size), elf);
  if (!symbols->ReadSections()) return nullptr;
  return symbols;
}

}  // namespace jankbox
