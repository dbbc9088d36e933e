#include "diagnosis/symbols/elf_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/short_key.h"
#include "tracer/unwind/build_id_note.h"

namespace jankbox {
namespace {

constexpr size_t kMaxSegments = 64;
constexpr size_t kMaxNoteBytes = 4096;
constexpr size_t kTextBytes = 4096;
constexpr unsigned char kOwnClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;

}  // namespace

bool ElfFile::ReadAt(uint64_t offset, void* into, size_t size) const {
  if (offset > INT64_MAX - size) return false;
  return pread(file_.get(), into, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

bool ElfFile::Open(const std::string& path, const std::string& build_id) {
  // O_NONBLOCK: a path may have become a FIFO.
  file_ = ScopedFd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file_.valid() || fstat(file_.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  if (!ReadAt(0, &header_, sizeof(header_)) || memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 ||
      header_.e_ident[EI_CLASS] != kOwnClass || header_.e_phentsize != sizeof(ElfW(Phdr))) {
    return false;
  }
  segments_.resize(std::min<size_t>(header_.e_phnum, kMaxSegments));
  if (!ReadAt(header_.e_phoff, segments_.data(), segments_.size() * sizeof(ElfW(Phdr)))) {
    return false;
  }
  std::string found;
  for (const ElfW(Phdr) & segment : segments_) {
    if (segment.p_type == PT_GNU_EH_FRAME) {
      eh_frame_hdr_ = segment.p_vaddr;
      eh_frame_hdr_size_ = segment.p_memsz;
    }
    if (segment.p_type != PT_NOTE || !found.empty()) continue;
    std::byte notes[kMaxNoteBytes];
    const size_t size = std::min<uint64_t>(segment.p_filesz, sizeof(notes));
    if (ReadAt(segment.p_offset, notes, size)) found = BuildIdOfNotes({notes, size});
  }
  return found == build_id;
}

bool ElfFile::Read(uint64_t address, void* into, size_t size) const {
  for (const ElfW(Phdr) & segment : segments_) {
    const uint64_t offset = address - segment.p_vaddr;
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr || offset > segment.p_filesz) {
      continue;
    }
    return size <= segment.p_filesz - offset && ReadAt(segment.p_offset + offset, into, size);
  }
  return false;
}

std::string ElfFile::TextKey() const {
  const auto section_at = [&](uint64_t number, ElfW(Shdr) * section) {
    return number < header_.e_shnum && header_.e_shentsize == sizeof(*section) &&
           ReadAt(header_.e_shoff + number * sizeof(*section), section, sizeof(*section));
  };
  ElfW(Shdr) names{};
  ElfW(Shdr) section{};
  if (!section_at(header_.e_shstrndx, &names)) return {};
  for (uint64_t number = 1; section_at(number, &section); ++number) {
    char name[sizeof(".text")] = {};
    const bool is_text = ReadAt(names.sh_offset + section.sh_name, name, sizeof(name)) &&
                         memcmp(name, ".text", sizeof(name)) == 0;
    if (!is_text) continue;
    std::string text(std::min<uint64_t>(section.sh_size, kTextBytes), '\0');
    return ReadAt(section.sh_offset, text.data(), text.size()) ? ShortKey(text) : "";
  }
  return {};
}

}  // namespace jankbox
