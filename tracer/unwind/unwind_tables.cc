#include "tracer/unwind/unwind_tables.h"

#include <cstring>

namespace jankbox {

namespace {

constexpr size_t kPageCacheBytes = 512 * 1024;

// DW_EH_PE_* encodings of .eh_frame_hdr (LSB, exception frames): formats in the low four bits.
constexpr uint8_t kFormatMask = 0x0f;
constexpr uint8_t kUnsigned4 = 0x03;
constexpr uint8_t kSigned4 = 0x0b;
constexpr uint8_t kUnsigned8 = 0x04;
constexpr uint8_t kSigned8 = 0x0c;
constexpr uint8_t kTableOfSigned4RelativeToHeader = 0x3b;

// Size of an encoded pointer; 0 for the encodings that no linker uses here.
uint32_t EncodedSize(uint8_t encoding) {
  switch (encoding & kFormatMask) {
    case kUnsigned4:
    case kSigned4:
      return 4;
    case kUnsigned8:
    case kSigned8:
      return 8;
    default:
      return 0;
  }
}

}  // namespace

UnwindTables::UnwindTables() : pages_(kPageCacheBytes) {}

void UnwindTables::SetModules(const ModuleMap* modules) {
  modules_ = modules;
  pages_.Invalidate();
}

const Module* UnwindTables::FindModule(uint64_t address) const {
  return modules_ == nullptr ? nullptr : modules_->Find(address);
}

bool UnwindTables::ReadStack(uint64_t address, uint64_t* word) const {
  const size_t size = stack_.bytes.size();
  if (address < stack_.base || size < sizeof(*word) ||
      address - stack_.base > size - sizeof(*word)) {
    return false;
  }
  std::memcpy(word, stack_.bytes.data() + (address - stack_.base), sizeof(*word));
  return true;
}

bool UnwindTables::ReadModule(uint64_t address, void* into, size_t size) {
  const Module* module = FindModule(address);
  return module != nullptr && size <= module->end - address && pages_.Read(address, into, size);
}

bool UnwindTables::ReadWord(uint64_t address, uint64_t* word) {
  return ReadStack(address, word) || ReadModule(address, word, sizeof(*word));
}

bool UnwindTables::ReadCode(uint64_t address, void* into, size_t size) {
  return ReadModule(address, into, size) ||
         (FindModule(address) == nullptr && ReadRecordedMemory(address, into, size) == size);
}

bool UnwindTables::FindSearchTable(const Module& module, SearchTable* table) {
  struct {
    uint8_t version, frame_encoding, count_encoding, table_encoding;
  } form;
  const uint64_t header = module.eh_frame_hdr;
  if (header == 0 || module.eh_frame_hdr_size < sizeof(form) ||
      !ReadModule(header, &form, sizeof(form))) {
    return false;
  }
  const uint32_t frame_size = EncodedSize(form.frame_encoding);
  if (form.version != 1 || frame_size == 0 || (form.count_encoding & kFormatMask) != kUnsigned4 ||
      form.table_encoding != kTableOfSigned4RelativeToHeader) {
    return false;
  }
  uint32_t count = 0;
  const uint64_t count_at = header + sizeof(form) + frame_size;
  const uint64_t used = sizeof(form) + frame_size + sizeof(count);
  if (module.eh_frame_hdr_size < used || !ReadModule(count_at, &count, sizeof(count)) ||
      count > (module.eh_frame_hdr_size - used) / 8) {
    return false;
  }
  *table = {header, count_at + sizeof(count), count};
  return true;
}

}  // namespace jankbox
