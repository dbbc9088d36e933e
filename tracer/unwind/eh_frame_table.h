// The sorted table of .eh_frame_hdr {function, FDE}, as the Linux Standard Base describes it and
// every linker writes it. `read(address, into, size)` reads the module's memory or file and is
// false if it cannot. NO-ALLOC, if `read` does not.
#ifndef JANKBOX_TRACER_UNWIND_EH_FRAME_TABLE_H_
#define JANKBOX_TRACER_UNWIND_EH_FRAME_TABLE_H_

#include <cstdint>
#include <cstring>

namespace jankbox {

struct EhFrameTable {
  uint64_t header = 0;  // entries are relative to it
  uint64_t entries = 0;
  uint64_t entry_count = 0;  // 8 bytes each
};

struct EhFrameEntry {
  uint64_t function = 0;  // its first address
  uint64_t fde = 0;       // 0: there is none
};

// False if the header at `header` is absent or of a form that no linker writes.
template <typename Read>
bool ReadEhFrameTable(uint64_t header, uint64_t size, Read read, EhFrameTable* table) {
  // DW_EH_PE_* encodings (LSB, exception frames): formats in the low four bits.
  constexpr uint8_t kFormatMask = 0x0f;
  constexpr uint8_t kUnsigned4 = 0x03;
  constexpr uint8_t kTableOfSigned4RelativeToHeader = 0x3b;
  constexpr uint8_t kSizes[16] = {0, 0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 4, 8};  // of encoded pointers
  struct {
    uint8_t version, frame_encoding, count_encoding, table_encoding;
  } form;
  if (header == 0 || size < sizeof(form) || !read(header, &form, sizeof(form))) return false;
  const uint32_t frame_size = kSizes[form.frame_encoding & kFormatMask];
  if (form.version != 1 || frame_size == 0 || (form.count_encoding & kFormatMask) != kUnsigned4 ||
      form.table_encoding != kTableOfSigned4RelativeToHeader) {
    return false;
  }
  uint32_t count = 0;
  const uint64_t count_at = header + sizeof(form) + frame_size;
  const uint64_t used = sizeof(form) + frame_size + sizeof(count);
  if (size < used || !read(count_at, &count, sizeof(count)) || count > (size - used) / 8) {
    return false;
  }
  *table = {header, count_at + sizeof(count), count};
  return true;
}

// The entry of the last function that starts at or before `address`.
template <typename Read>
EhFrameEntry FindEhFrameEntry(const EhFrameTable& table, uint64_t address, Read read) {
  struct {
    int32_t function, fde;
  } entry = {};
  EhFrameEntry found;
  uint64_t low = 0;
  uint64_t high = table.entry_count;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (!read(table.entries + middle * sizeof(entry), &entry, sizeof(entry))) return {};
    const uint64_t function = table.header + static_cast<uint64_t>(int64_t{entry.function});
    if (function <= address) {
      found = {function, table.header + static_cast<uint64_t>(int64_t{entry.fde})};
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return found;
}

// How many bytes of code the FDE of `entry` covers; 0 if they are encoded in a form that no
// compiler writes. The encoding is in the FDE's CIE; here it is recognized by the function's start,
// which is known: as an offset from itself or as an address, in 4 or 8 bytes.
template <typename Read>
uint64_t CodeSize(const EhFrameEntry& entry, Read read) {
  const uint64_t at = entry.fde + 2 * sizeof(uint32_t);  // after length and CIE
  uint8_t bytes[16];
  if (entry.fde == 0 || !read(at, bytes, sizeof(bytes))) return 0;
  int32_t narrow = 0;
  int64_t wide = 0;
  memcpy(&narrow, bytes, sizeof(narrow));
  memcpy(&wide, bytes, sizeof(wide));
  const auto starts = [&](int64_t value) {
    return at + static_cast<uint64_t>(value) == entry.function ||
           static_cast<uint64_t>(value) == entry.function;
  };
  uint64_t size = 0;
  if (starts(narrow)) {
    uint32_t narrow_size = 0;
    memcpy(&narrow_size, bytes + sizeof(narrow), sizeof(narrow_size));
    size = narrow_size;
  } else if (starts(wide)) {
    memcpy(&size, bytes + sizeof(wide), sizeof(size));
  }
  return size;
}

}  // namespace jankbox

#endif  // JANKBOX_TRACER_UNWIND_EH_FRAME_TABLE_H_
