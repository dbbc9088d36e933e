#include <algorithm>
#include <cstring>

#include "tracer/unwind/frame_repair.h"

namespace jankbox {

namespace {

constexpr uint8_t kCallRel32 = 0xe8;
constexpr uint8_t kJumpRel32 = 0xe9;
constexpr uint8_t kTwoByteOpcode = 0x0f;  // with 80…8f: conditional jump, rel32
constexpr uint8_t kGroup5 = 0xff;         // with /2 in its ModRM byte: indirect call
constexpr uint64_t kDirectCallBytes = 5;
constexpr uint64_t kLongestCallBytes = 7;
constexpr uint64_t kMaxScannedBody = 4096;

uint64_t Rel32Target(const uint8_t* displacement, uint64_t next_instruction) {
  int32_t offset = 0;
  std::memcpy(&offset, displacement, sizeof(offset));
  return next_instruction + static_cast<uint64_t>(static_cast<int64_t>(offset));
}

// The target of a direct call that ends at `return_address`; 0 if the bytes are none.
uint64_t DirectCallTarget(UnwindTables* tables, uint64_t return_address) {
  uint8_t code[kDirectCallBytes];
  if (return_address < sizeof(code) ||
      !tables->ReadCode(return_address - sizeof(code), code, sizeof(code)) ||
      code[0] != kCallRel32) {
    return 0;
  }
  return Rel32Target(code + 1, return_address);
}

// Lengths of `call r/m64` by its ModRM byte: 2 (register or [register]), 3 (disp8 or SIB), 4 (SIB
// and disp8), 6 (disp32 or rip-relative), 7 (SIB and disp32); a REX prefix is before them.
bool FollowsIndirectCall(UnwindTables* tables, uint64_t return_address) {
  uint8_t code[kLongestCallBytes];
  if (return_address < sizeof(code) ||
      !tables->ReadCode(return_address - sizeof(code), code, sizeof(code))) {
    return false;
  }
  for (uint64_t length : {2, 3, 4, 6, 7}) {
    const uint8_t* call = code + sizeof(code) - length;
    if (call[0] == kGroup5 && (call[1] >> 3 & 7) == 2) return true;
  }
  return false;
}

// True if `function`'s body jumps into `callee`: a tail call, or the part of it that the
// compiler moved away as cold.
bool JumpsInto(UnwindTables* tables, const FunctionRange& function, const FunctionRange& callee) {
  const uint64_t size = std::min(function.end - function.start, kMaxScannedBody);
  uint8_t body[kMaxScannedBody];
  if (!tables->ReadCode(function.start, body, size)) return false;
  for (uint64_t at = 0; at + kDirectCallBytes <= size; ++at) {
    const bool conditional = at > 0 && body[at - 1] == kTwoByteOpcode && body[at] >> 4 == 8;
    if ((body[at] == kJumpRel32 || conditional) &&
        callee.Covers(Rel32Target(body + at + 1, function.start + at + kDirectCallBytes))) {
      return true;
    }
  }
  return false;
}

}  // namespace

uint64_t FindSavedFramePointer(UnwindTables* tables, uint64_t function, uint64_t sp) {
  // A direct call does not leave its module; the ABI aligns frames to 16 bytes.
  const Module* module = tables->FindModule(function);
  if (module == nullptr) return 0;
  uint64_t found = 0;
  uint64_t return_address = 0;
  for (uint64_t at = (sp + 15) & ~uint64_t{15}; tables->ReadStack(at + 8, &return_address);
       at += 16) {
    if (return_address < module->start || return_address >= module->end ||
        DirectCallTarget(tables, return_address) != function) {
      continue;
    }
    if (found != 0) return 0;
    found = at;
  }
  return found;
}

bool CallCanReach(UnwindTables* tables, FunctionLookup* functions, uint64_t return_address,
                  const FunctionRange& callee) {
  const uint64_t target = DirectCallTarget(tables, return_address);
  FunctionRange called;
  if (target == 0 || !functions->FindFunction(target, &called) || called.start != target) {
    return target != 0 || FollowsIndirectCall(tables, return_address);
  }
  return target == callee.start || JumpsInto(tables, called, callee);
}

bool FollowsCall(UnwindTables* tables, uint64_t address) {
  return DirectCallTarget(tables, address) != 0 || FollowsIndirectCall(tables, address);
}

}  // namespace jankbox
