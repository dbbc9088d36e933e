#include "tracer/hook/elf_image.h"

#include <elf.h>

#include <utility>

#include "tracer/hook/loaded_module.h"

namespace jankbox {

ElfFormat ElfFormat::Native() {
#if defined(__x86_64__)
  constexpr uint16_t kMachine = EM_X86_64;
#elif defined(__i386__)
  constexpr uint16_t kMachine = EM_386;
#elif defined(__aarch64__)
  constexpr uint16_t kMachine = EM_AARCH64;
#elif defined(__arm__)
  constexpr uint16_t kMachine = EM_ARM;
#else
  constexpr uint16_t kMachine = EM_NONE;
#endif
  return {kMachine, sizeof(ElfW(Addr)) == 8};
}

ElfImage::ElfImage(ElfFormat format, uint64_t load_bias, std::vector<ElfSegment> segments,
                   uint64_t dynamic_address, uint64_t dynamic_size)
    : format_(format),
      load_bias_(load_bias),
      segments_(std::move(segments)),
      dynamic_address_(dynamic_address),
      dynamic_size_(dynamic_size) {}

ElfImage ElfImage::OfModule(const LoadedModule& module) {
  std::vector<ElfSegment> segments;
  uint64_t dynamic_address = 0;
  uint64_t dynamic_size = 0;
  for (size_t i = 0; i < module.header_count; ++i) {
    const ElfW(Phdr)& header = module.headers[i];
    const uint64_t address = module.load_bias + header.p_vaddr;
    if (header.p_type == PT_LOAD && (header.p_flags & PF_R) != 0) {
      segments.push_back({address, header.p_memsz, reinterpret_cast<const std::byte*>(address)});
    } else if (header.p_type == PT_DYNAMIC) {
      dynamic_address = address;
      dynamic_size = header.p_memsz;
    }
  }
  return ElfImage(ElfFormat::Native(), module.load_bias, std::move(segments), dynamic_address,
                  dynamic_size);
}

const std::byte* ElfImage::Locate(uint64_t address, uint64_t size) const {
  for (const ElfSegment& segment : segments_) {
    if (address < segment.address) continue;
    const uint64_t offset = address - segment.address;
    if (offset <= segment.size && size <= segment.size - offset) return segment.bytes + offset;
  }
  return nullptr;
}

std::span<const std::byte> ElfImage::From(uint64_t address) const {
  for (const ElfSegment& segment : segments_) {
    const uint64_t offset = address - segment.address;
    if (address >= segment.address && offset < segment.size) {
      return {segment.bytes + offset, segment.size - offset};
    }
  }
  return {};
}

bool ElfImage::ReadWord(uint64_t address, uint64_t* value) const {
  if (format_.is_64) return Read(address, value);
  uint32_t word = 0;
  if (!Read(address, &word)) return false;
  *value = word;
  return true;
}

uint64_t ElfImage::size() const {
  uint64_t bytes = 0;
  for (const ElfSegment& segment : segments_) bytes += segment.size;
  return bytes;
}

uint64_t ElfImage::FromDynamicPointer(uint64_t value) const {
  return Locate(value, 1) != nullptr ? value : AtRunTime(value);
}

}  // namespace jankbox
