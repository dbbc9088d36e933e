#include "symbolize/elf_contents.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace jankbox {
namespace {

ElfContents ContentsOf(std::string_view name, const GElf_Shdr& section) {
  if (section.sh_type == SHT_NOBITS) return ElfContents::kNothing;  // it is in another file
  if (name == ".debug_info" || name == ".zdebug_info") return ElfContents::kDebugInfo;
  if (section.sh_type == SHT_SYMTAB) return ElfContents::kSymbols;
  if (section.sh_type == SHT_DYNSYM) return ElfContents::kExports;
  return ElfContents::kNothing;
}

}  // namespace

std::unique_ptr<OpenElf> OpenElf::Open(const std::string& path) {
  elf_version(EV_CURRENT);
  ScopedFd fd(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat st {};
  if (!fd.valid() || fstat(fd.get(), &st) != 0 || !S_ISREG(st.st_mode)) return nullptr;
  Elf* const elf = elf_begin(fd.get(), ELF_C_READ_MMAP, nullptr);
  std::unique_ptr<OpenElf> opened(new OpenElf(std::move(fd), elf));
  if (opened->elf() == nullptr || elf_kind(opened->elf()) != ELF_K_ELF) return nullptr;
  return opened;
}

std::string OpenElf::BuildId() const {
  constexpr ssize_t kMaxBytes = 64;
  constexpr char kDigits[] = "0123456789abcdef";
  const void* bytes = nullptr;
  const ssize_t size = dwelf_elf_gnu_build_id(elf(), &bytes);
  std::string text;
  for (ssize_t i = 0; i < std::min(size, kMaxBytes); ++i) {
    const uint8_t byte = static_cast<const uint8_t*>(bytes)[i];
    text += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return text;
}

ElfContents OpenElf::Contents() const {
  ElfContents most = ElfContents::kNothing;
  size_t names = 0;
  if (elf_getshdrstrndx(elf(), &names) != 0) return most;
  for (Elf_Scn* at = elf_nextscn(elf(), nullptr); at != nullptr; at = elf_nextscn(elf(), at)) {
    GElf_Shdr section;
    if (gelf_getshdr(at, &section) == nullptr) continue;
    const char* name = elf_strptr(elf(), names, section.sh_name);
    most = std::max(most, ContentsOf(name == nullptr ? "" : name, section));
  }
  return most;
}

}  // namespace jankbox
