// Reads the code around a return address to find a frame, for places at which .eh_frame is not
// enough: a blocked thread's frame pointer is not known (/proc gives only pc and sp), and code
// generated at run time has no table. Looser checks than these produced whole stacks that reached
// main() and were wrong: when in doubt they say no. One watcher thread; NO-ALLOC.
#ifndef JANKBOX_TRACER_UNWIND_FRAME_REPAIR_H_
#define JANKBOX_TRACER_UNWIND_FRAME_REPAIR_H_

#include <cstdint>

#include "tracer/unwind/unwind_tables.h"

namespace jankbox {

struct FunctionRange {
  uint64_t start = 0;
  uint64_t end = 0;
  bool Covers(uint64_t address) const { return address >= start && address < end; }
};

// Finds the range of code that one FDE covers.
class FunctionLookup {
 public:
  virtual bool FindFunction(uint64_t address, FunctionRange* range) = 0;

 protected:
  ~FunctionLookup() = default;
};

// The address of `function`'s saved frame pointer, `sp` being its stack pointer at a call: code
// with a fixed frame says in its prologue how far apart they are. 0 if the frame's size varies,
// the prologue is not of a known form, or no return address is there.
uint64_t FramePointerByPrologue(UnwindTables* tables, const FunctionRange& function, uint64_t sp);

// For frames whose size varies: the address of the only {saved frame pointer, return address} pair
// of the copied stack, from `sp` up, whose return address follows a direct call of `function`; 0
// if there is none, or more than one (a recursion, or left over from an earlier call: the bytes
// do not say which).
uint64_t FindSavedFramePointer(UnwindTables* tables, uint64_t function, uint64_t sp);

// True if the call before `return_address` can have led to `callee`: a direct call of it, or of
// a function that jumps into it, or of code without a table, or an indirect call.
bool CallCanReach(UnwindTables* tables, FunctionLookup* functions, uint64_t return_address,
                  const FunctionRange& callee);

// True if `address` follows a call instruction.
bool FollowsCall(UnwindTables* tables, uint64_t address);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_UNWIND_FRAME_REPAIR_H_
