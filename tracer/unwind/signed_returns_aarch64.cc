// .eh_frame as the Linux Standard Base describes it, and DWARF 5's call frame instructions (6.4.2).
#include <algorithm>
#include <cstring>

#include "tracer/unwind/signed_returns.h"

namespace jankbox {

namespace {

constexpr size_t kCieBytes = 64;  // GCC's and LLVM's take 20 to 36
constexpr uint8_t kFormatMask = 0x0f;
constexpr uint8_t kNegateReturnState = 0x2d;
constexpr uint8_t kNop = 0x00;

// Walks over bytes; a step beyond the end makes it not ok().
class Bytes {
 public:
  Bytes(uint8_t* bytes, size_t size) : at_(bytes), end_(bytes + size) {}

  bool ok() const { return ok_; }
  bool AtEnd() const { return at_ == end_; }
  uint8_t* Skip(uint64_t count) {
    uint8_t* from = at_;
    ok_ = ok_ && count <= static_cast<uint64_t>(end_ - at_);
    at_ = ok_ ? at_ + count : end_;
    return from;
  }
  uint8_t Byte() {
    const uint8_t* from = Skip(1);
    return ok_ ? *from : 0;
  }
  uint32_t Word() {
    uint32_t word = 0;
    const uint8_t* from = Skip(sizeof(word));
    if (ok_) std::memcpy(&word, from, sizeof(word));
    return word;
  }
  // Unsigned; of a signed one the bytes are skipped.
  uint64_t Leb128() {
    uint64_t value = 0;
    for (uint32_t shift = 0; ok_; shift += 7) {
      const uint8_t byte = Byte();
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) break;
    }
    return value;
  }
  void SkipLebs(int count) {
    for (int i = 0; i < count; ++i) Leb128();
  }
  void SkipBlock() { Skip(Leb128()); }
  void Fail() { ok_ = false; }

 private:
  uint8_t* at_;
  uint8_t* end_;
  bool ok_ = true;
};

// Of DW_EH_PE_*; 0 if its size is not fixed.
uint32_t SizeOf(uint8_t encoding) {
  constexpr uint8_t kSizes[16] = {8, 0, 2, 4, 8, 0, 0, 0, 8, 0, 2, 4, 8};
  return kSizes[encoding & kFormatMask];
}

// The size of the code addresses in a CIE's FDEs; 0 for a form that no compiler writes here.
uint32_t AddressSize(Bytes cie) {
  cie.Skip(8);  // length, id
  const uint8_t version = cie.Byte();
  const auto* augmentation = reinterpret_cast<const char*>(cie.Skip(0));
  while (cie.ok() && cie.Byte() != 0) {
  }
  if (!cie.ok() || (version != 1 && version != 3) || *augmentation != 'z') return 0;
  cie.SkipLebs(version == 1 ? 2 : 3);  // alignments, and the return address's column
  if (version == 1) cie.Byte();
  cie.Leb128();  // size of what follows
  uint32_t size = SizeOf(0);
  while (*++augmentation != 0) {
    switch (*augmentation) {
      case 'R':
        size = SizeOf(cie.Byte());
        break;
      case 'P':
        cie.Skip(SizeOf(cie.Byte()));
        break;
      case 'L':
        cie.Byte();
        break;
      case 'S':  // a signal's frame
      case 'B':  // signed with the second key
      case 'G':  // tagged stack
        break;
      default:
        return 0;
    }
  }
  return cie.ok() ? size : 0;
}

// Skips the operands of instruction `op`.
void SkipOperands(uint8_t op, uint32_t address_size, Bytes* rules) {
  // By instruction, from 0: how many LEB128 it has.
  constexpr uint8_t kLebs[] = {0, 0, 0, 0, 0, 2, 1, 1, 1, 2, 0, 0, 2, 1, 1, 0, 1, 2, 2, 1, 2, 2, 1};
  switch (op) {
    case 0x01:  // set_loc
      rules->Skip(address_size);
      return;
    case 0x02:  // advance_loc1, 2, 4
    case 0x03:
    case 0x04:
      rules->Skip(1u << (op - 0x02));
      return;
    case 0x0f:  // def_cfa_expression
      rules->SkipBlock();
      return;
    case 0x10:  // expression, val_expression
    case 0x16:
      rules->Leb128();
      rules->SkipBlock();
      return;
    case 0x2e:  // GNU_args_size
      rules->Leb128();
      return;
    default:
      if (op >= sizeof(kLebs)) return rules->Fail();
      rules->SkipLebs(kLebs[op]);
  }
}

void DropNegations(Bytes rules, uint32_t address_size) {
  while (rules.ok() && !rules.AtEnd()) {
    uint8_t* at = rules.Skip(1);
    switch (*at >> 6) {
      case 0:
        if (*at == kNegateReturnState) {
          *at = kNop;
        } else {
          SkipOperands(*at, address_size, &rules);
        }
        break;
      case 2:  // offset
        rules.Leb128();
        break;
      default:  // advance_loc, restore: the operand is in the byte
        break;
    }
  }
}

}  // namespace

void SignedReturns::TakeRules(UnwindTables* tables, const EhFrameTable& table, uint64_t address) {
  size_ = 0;
  const auto read = [tables](uint64_t at, void* into, size_t size) {
    return tables->ReadModule(at, into, size);
  };
  const uint64_t fde = FindEhFrameEntry(table, address, read).fde;
  uint32_t head[2] = {};  // length of what follows it, distance to the CIE
  if (fde == 0 || !tables->ReadModule(fde, head, sizeof(head))) return;
  const uint64_t size = sizeof(uint32_t) + uint64_t{head[0]};
  uint8_t cie[kCieBytes];
  if (size > kBytes || !tables->ReadModule(fde, bytes_, size) ||
      !tables->ReadModule(fde + sizeof(uint32_t) - head[1], cie, sizeof(cie))) {
    return;
  }
  const uint32_t address_size = AddressSize(Bytes(cie, sizeof(cie)));
  Bytes rules(bytes_, size);
  rules.Skip(sizeof(head) + 2 * uint64_t{address_size});
  rules.SkipBlock();  // the augmentation
  if (address_size == 0 || !rules.ok()) return;
  DropNegations(rules, address_size);
  start_ = fde;
  size_ = size;
}

void SignedReturns::Replace(uint64_t address, uint64_t* word) const {
  if (address + sizeof(*word) <= start_ || address >= start_ + size_) return;
  uint8_t bytes[sizeof(*word)];
  std::memcpy(bytes, word, sizeof(bytes));
  for (size_t i = 0; i < sizeof(bytes); ++i) {
    if (address + i - start_ < size_) bytes[i] = bytes_[address + i - start_];
  }
  std::memcpy(word, bytes, sizeof(bytes));
}

// XPACLRI: if the machine signs nothing, it does nothing.
uint64_t SignedReturns::Strip(uint64_t address) {
  uint64_t stripped;
  asm("mov x30, %1\n\thint #7\n\tmov %0, x30" : "=r"(stripped) : "r"(address) : "x30");
  return stripped;
}

}  // namespace jankbox
