#include "diagnosis/symbols/function_starts.h"

namespace jankbox {
namespace {

constexpr size_t kCacheBytes = 64 << 10;

}  // namespace

FunctionStarts::FunctionStarts(const Module& module, const ElfFile* file)
    : blocks_(kCacheBytes,
              [this](uint64_t at, void* into, size_t size) {
                return file_ != nullptr ? file_->Read(at, into, size)
                                        : ReadRecordedMemory(at, into, size) == size;
              }),
      bias_(module.load_bias) {
  const auto read = [this](uint64_t at, void* into, size_t size) {
    return blocks_.Read(at, into, size);
  };
  // A module of a dead process has no address of the table.
  if (ReadEhFrameTable(module.eh_frame_hdr, module.eh_frame_hdr_size, read, &table_)) return;
  blocks_.Invalidate();
  file_ = file;
  bias_ = 0;
  if (file == nullptr) return;
  ReadEhFrameTable(file->eh_frame_hdr(), file->eh_frame_hdr_size(), read, &table_);
}

uint64_t FunctionStarts::Find(uint64_t address) {
  const auto read = [this](uint64_t at, void* into, size_t size) {
    return blocks_.Read(at, into, size);
  };
  const uint64_t at = address + bias_;
  const EhFrameEntry entry = FindEhFrameEntry(table_, at, read);
  if (entry.fde == 0 || at - entry.function >= CodeSize(entry, read)) return 0;
  return entry.function - bias_;
}

}  // namespace jankbox
