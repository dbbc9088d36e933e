#include <algorithm>
#include <cstring>

#include "tracer/unwind/frame_repair.h"

namespace jankbox {

namespace {

constexpr uint64_t kMaxBody = 16 * 1024;
constexpr uint64_t kPiece = 512;  // prologues end within it
constexpr uint64_t kMaxInstructions = 32;
constexpr uint64_t kWord = 8;

// A little of the instruction set: what compilers place among the pushes of a prologue.
struct Instruction {
  uint64_t length = 0;  // 0: not one of those
  uint8_t rex = 0;
  uint8_t opcode = 0;
  uint8_t modrm = 0;
};

bool HasModRm(uint8_t opcode) {
  switch (opcode) {
    case 0x01:  // add, or, and, sub, xor, cmp, test, mov, movsxd, lea
    case 0x03:
    case 0x09:
    case 0x0b:
    case 0x21:
    case 0x23:
    case 0x29:
    case 0x2b:
    case 0x31:
    case 0x33:
    case 0x39:
    case 0x3b:
    case 0x63:
    case 0x81:
    case 0x83:
    case 0x85:
    case 0x89:
    case 0x8b:
    case 0x8d:
    case 0xc7:
      return true;
    default:
      return false;
  }
}

uint64_t ImmediateBytes(uint8_t opcode) {
  if (opcode == 0x83) return 1;
  return opcode == 0x81 || opcode == 0xc7 ? 4 : 0;
}

// ModRM, SIB and displacement.
uint64_t OperandBytes(const uint8_t* modrm) {
  const uint8_t mode = modrm[0] >> 6;
  const uint8_t rm = modrm[0] & 7;
  if (mode == 3) return 1;
  const bool sib = rm == 4;
  uint64_t bytes = sib ? 2 : 1;
  if (mode == 1) bytes += 1;
  if (mode == 2 || (mode == 0 && (rm == 5 || (sib && (modrm[1] & 7) == 5)))) bytes += 4;
  return bytes;
}

// REQUIRES 16 bytes at `code`.
Instruction Decode(const uint8_t* code) {
  Instruction found;
  const uint8_t* at = code;
  if (*at >> 4 == 4) found.rex = *at++;
  found.opcode = *at++;
  if (found.opcode >> 3 == 0x50 >> 3) {  // push
    found.length = static_cast<uint64_t>(at - code);
  } else if (found.opcode >> 3 == 0xb8 >> 3 && (found.rex & 8) == 0) {  // mov r32, imm32
    found.length = static_cast<uint64_t>(at - code) + 4;
  } else if (HasModRm(found.opcode)) {
    found.modrm = *at;
    found.length =
        static_cast<uint64_t>(at - code) + OperandBytes(at) + ImmediateBytes(found.opcode);
  }
  return found;
}

bool IsPush(const Instruction& i) { return i.opcode >> 3 == 0x50 >> 3; }
bool IsMovRspToRbp(const Instruction& i) {
  return i.rex == 0x48 &&
         ((i.opcode == 0x89 && i.modrm == 0xe5) || (i.opcode == 0x8b && i.modrm == 0xec));
}
bool IsSubRsp(const Instruction& i) {
  return i.rex == 0x48 && (i.opcode == 0x83 || i.opcode == 0x81) && i.modrm == 0xec;
}

// Bytes between the stack pointer and the saved frame pointer once the prologue is through; -1
// if it sets up no frame pointer.
int64_t FrameBytes(const uint8_t* code, uint64_t size) {
  constexpr uint8_t kEndbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
  uint64_t at = std::memcmp(code, kEndbr64, sizeof(kEndbr64)) == 0 ? sizeof(kEndbr64) : 0;
  int64_t bytes = -1;
  bool rbp_pushed = false;
  for (uint64_t n = 0; n < kMaxInstructions && at + 16 <= size; ++n) {
    const Instruction instruction = Decode(code + at);
    if (instruction.length == 0) break;  // a call or jump, say: the prologue is over
    if (IsPush(instruction)) {
      if (bytes >= 0) bytes += static_cast<int64_t>(kWord);
      if (bytes < 0) rbp_pushed = instruction.opcode == 0x55 && instruction.rex == 0;
    } else if (IsMovRspToRbp(instruction) && rbp_pushed) {
      bytes = 0;
    } else if (IsSubRsp(instruction) && bytes >= 0) {
      int32_t immediate = 0;
      const uint8_t* end = code + at + instruction.length;
      if (instruction.opcode == 0x83) {
        immediate = static_cast<int8_t>(end[-1]);
      } else {
        std::memcpy(&immediate, end - sizeof(immediate), sizeof(immediate));
      }
      return bytes + immediate;
    }
    at += instruction.length;
  }
  return bytes;
}

// An instruction that moves the stack pointer by what is not in the code: alloca, realignment. The
// bytes may also be within another instruction; then a frame goes unrepaired.
bool MovesStackPointer(const uint8_t* code) {
  if ((code[0] & 0xf8) != 0x48) return false;
  const bool into_rm = (code[2] & 0xc7) == 0xc4;   // rsp is the destination in r/m
  const bool into_reg = (code[2] & 0xf8) == 0xe0;  // … or in reg, from a register
  switch (code[1]) {
    case 0x29:  // sub
    case 0x89:  // mov
      return into_rm;
    case 0x2b:
    case 0x8b:
      return into_reg;
    case 0x81:  // and rsp, immediate
    case 0x83:
      return code[2] == 0xe4;
    default:
      return false;
  }
}

bool HasFixedFrame(UnwindTables* tables, const FunctionRange& function) {
  if (function.end - function.start > kMaxBody) return false;
  uint8_t piece[kPiece + 2];
  for (uint64_t at = function.start; at < function.end; at += kPiece) {
    const uint64_t size = std::min<uint64_t>(sizeof(piece), function.end - at);
    if (!tables->ReadCode(at, piece, size)) return false;
    for (uint64_t i = 0; i + 3 <= size; ++i) {
      if (MovesStackPointer(piece + i)) return false;
    }
  }
  return true;
}

}  // namespace

uint64_t FramePointerByPrologue(UnwindTables* tables, const FunctionRange& function, uint64_t sp) {
  uint8_t code[kPiece] = {};
  const uint64_t size = std::min<uint64_t>(sizeof(code), function.end - function.start);
  if (!tables->ReadCode(function.start, code, size)) return 0;
  const int64_t bytes = FrameBytes(code, sizeof(code));
  if (bytes < 0 || !HasFixedFrame(tables, function)) return 0;
  const uint64_t at = sp + static_cast<uint64_t>(bytes);
  uint64_t return_address = 0;
  const bool called = tables->ReadStack(at + kWord, &return_address) &&
                      tables->FindModule(return_address) != nullptr &&
                      FollowsCall(tables, return_address);
  return called ? at : 0;
}

}  // namespace jankbox
