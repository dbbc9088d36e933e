#include "tracer/unwind/build_id_note.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstring>

namespace jankbox {

namespace {

constexpr size_t kMaxBuildIdBytes = 64;

size_t Align4(size_t size) { return (size + 3) & ~size_t{3}; }

std::string Hex(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (std::byte byte : bytes) {
    hex += kDigits[static_cast<unsigned>(byte) >> 4];
    hex += kDigits[static_cast<unsigned>(byte) & 15];
  }
  return hex;
}

}  // namespace

std::string BuildIdOfNotes(std::span<const std::byte> notes) {
  ElfW(Nhdr) note;
  while (notes.size() >= sizeof(note)) {
    std::memcpy(&note, notes.data(), sizeof(note));
    notes = notes.subspan(sizeof(note));
    if (note.n_namesz > notes.size() || Align4(note.n_namesz) > notes.size()) return {};
    const std::span<const std::byte> name = notes.first(note.n_namesz);
    notes = notes.subspan(Align4(note.n_namesz));
    if (note.n_descsz > notes.size()) return {};
    const std::span<const std::byte> description = notes.first(note.n_descsz);
    if (note.n_type == NT_GNU_BUILD_ID && name.size() == 4 &&
        std::memcmp(name.data(), "GNU", 4) == 0 && description.size() <= kMaxBuildIdBytes) {
      return Hex(description);
    }
    notes = notes.subspan(std::min(Align4(note.n_descsz), notes.size()));
  }
  return {};
}

}  // namespace jankbox
