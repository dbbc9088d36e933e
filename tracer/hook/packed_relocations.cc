#include "tracer/hook/packed_relocations.h"

#include <cstring>

namespace jankbox {
namespace {

constexpr char kMagic[] = {'A', 'P', 'S', '2'};

// Flags of a group.
constexpr uint64_t kSharesInfo = 1;
constexpr uint64_t kSharesOffsetDelta = 2;
constexpr uint64_t kSharesAddend = 4;
constexpr uint64_t kHasAddend = 8;

}  // namespace

PackedRelocations::PackedRelocations(const ElfImage& image, const ElfTable& table)
    : format_(image.format()),
      bytes_(image.Locate(table.address, table.size)),
      size_(bytes_ == nullptr ? 0 : table.size) {
  if (size_ < sizeof(kMagic) || memcmp(bytes_, kMagic, sizeof(kMagic)) != 0) {
    state_ = State::kUnknown;
    return;
  }
  position_ = sizeof(kMagic);
  if (!ReadNumber(&left_) || !ReadNumber(&last_.offset)) return;
  if (left_ > image.size() / format_.word_bytes()) Fail(State::kCorrupt);
}

bool PackedRelocations::Fail(State state) {
  state_ = state;
  return false;
}

bool PackedRelocations::ReadNumber(uint64_t* value) {
  uint64_t number = 0;
  for (unsigned shift = 0; position_ < size_ && shift < 64; shift += 7) {
    const uint64_t byte = static_cast<uint64_t>(bytes_[position_++]);
    number |= (byte & 0x7f) << shift;
    if ((byte & 0x80) != 0) continue;
    const bool negative = (byte & 0x40) != 0 && shift + 7 < 64;
    *value = format_.Wrap(negative ? number | (~uint64_t{0} << (shift + 7)) : number);
    return true;
  }
  return Fail(State::kCorrupt);
}

bool PackedRelocations::ReadGroup() {
  if (!ReadNumber(&left_in_group_) || !ReadNumber(&group_flags_)) return false;
  if (left_in_group_ == 0 || left_in_group_ > left_) return Fail(State::kCorrupt);
  if ((group_flags_ & kSharesOffsetDelta) != 0 && !ReadNumber(&group_offset_delta_)) return false;
  if ((group_flags_ & kSharesInfo) != 0 && !ReadNumber(&last_.info)) return false;
  if ((group_flags_ & kHasAddend) == 0) {
    last_.addend = 0;
    return true;
  }
  uint64_t delta = 0;
  if ((group_flags_ & kSharesAddend) != 0 && !ReadNumber(&delta)) return false;
  last_.addend = format_.Wrap(last_.addend + delta);
  return true;
}

bool PackedRelocations::Next(Relocation* relocation) {
  if (state_ != State::kReading) return false;
  if (left_ == 0) return Fail(State::kEnd);
  if (left_in_group_ == 0 && !ReadGroup()) return false;
  uint64_t offset_delta = group_offset_delta_;
  if ((group_flags_ & kSharesOffsetDelta) == 0 && !ReadNumber(&offset_delta)) return false;
  last_.offset = format_.Wrap(last_.offset + offset_delta);
  if ((group_flags_ & kSharesInfo) == 0 && !ReadNumber(&last_.info)) return false;
  if ((group_flags_ & (kHasAddend | kSharesAddend)) == kHasAddend) {
    uint64_t delta = 0;
    if (!ReadNumber(&delta)) return false;
    last_.addend = format_.Wrap(last_.addend + delta);
  }
  --left_;
  --left_in_group_;
  *relocation = last_;
  return true;
}

}  // namespace jankbox
