#include "tests/tracer/hook/elf_file_image.h"

#include <elf.h>

#include <cstring>

namespace jankbox {
namespace {

struct ProgramHeader {
  uint32_t type;
  uint32_t flags;
  uint64_t offset;
  uint64_t address;
  uint64_t file_bytes;
  uint64_t memory_bytes;
};

struct FileLayout {
  ElfFormat format;
  std::vector<ProgramHeader> headers;
};

template <typename T>
bool ReadAt(std::span<const std::byte> file, uint64_t offset, T* value) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return false;
  memcpy(value, file.data() + offset, sizeof(T));
  return true;
}

template <typename Ehdr, typename Phdr>
std::optional<FileLayout> ReadLayout(std::span<const std::byte> file) {
  Ehdr header;
  if (!ReadAt(file, 0, &header) || header.e_phentsize != sizeof(Phdr)) return std::nullopt;
  FileLayout layout;
  layout.format = {header.e_machine, sizeof(header.e_entry) == 8};
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    Phdr raw;
    const uint64_t offset = static_cast<uint64_t>(header.e_phoff) + i * sizeof(raw);
    if (offset < i * sizeof(raw) || !ReadAt(file, offset, &raw)) return std::nullopt;
    layout.headers.push_back(
        {raw.p_type, raw.p_flags, raw.p_offset, raw.p_vaddr, raw.p_filesz, raw.p_memsz});
  }
  return layout;
}

std::optional<FileLayout> ReadLayout(std::span<const std::byte> file) {
  unsigned char identity[EI_NIDENT];
  if (!ReadAt(file, 0, &identity) || memcmp(identity, ELFMAG, SELFMAG) != 0 ||
      identity[EI_DATA] != ELFDATA2LSB) {
    return std::nullopt;
  }
  return identity[EI_CLASS] == ELFCLASS64 ? ReadLayout<Elf64_Ehdr, Elf64_Phdr>(file)
                                          : ReadLayout<Elf32_Ehdr, Elf32_Phdr>(file);
}

}  // namespace

std::optional<ElfFileImage> ElfFileImage::Of(std::span<const std::byte> file, uint64_t max_bytes) {
  const std::optional<FileLayout> layout = ReadLayout(file);
  if (!layout) return std::nullopt;
  ElfFileImage result;
  std::vector<ElfSegment> segments;
  uint64_t dynamic_address = 0, dynamic_size = 0, bytes = 0;
  for (const ProgramHeader& header : layout->headers) {
    if (header.type == PT_DYNAMIC) {
      dynamic_address = header.address;
      dynamic_size = header.memory_bytes;
    }
    if (header.type != PT_LOAD || (header.flags & PF_R) == 0) continue;
    const uint64_t size = header.memory_bytes;
    if (size > max_bytes - bytes || header.file_bytes > size || header.offset > file.size() ||
        header.file_bytes > file.size() - header.offset) {
      return std::nullopt;
    }
    bytes += size;
    auto& memory = result.memory_.emplace_back(std::make_unique<std::byte[]>(size));
    if (header.file_bytes != 0) {
      memcpy(memory.get(), file.data() + header.offset, header.file_bytes);
    }
    segments.push_back({header.address, size, memory.get()});
  }
  result.image_.emplace(layout->format, 0, std::move(segments), dynamic_address, dynamic_size);
  return result;
}

}  // namespace jankbox
