// The part of a sampled stack that people read: from main() or the thread's function on, without
// Jankbox's own functions between the program and the C library. The frames around it are in every
// stack and say nothing. Pure.
#ifndef JANKBOX_TRACER_UNWIND_SHOWN_STACK_H_
#define JANKBOX_TRACER_UNWIND_SHOWN_STACK_H_

#include <cstdint>
#include <string_view>

#include "tracer/unwind/resolved_frame.h"
#include "tracer/unwind/stack_sample.h"

namespace jankbox {

// True for modules (file names) that start every thread: the C library and the dynamic linker.
bool IsCLibrary(std::string_view module);

// True for functions around main() and thread functions, also with a version: "start_thread",
// "__libc_start_main@@GLIBC_2.34".
bool IsProcessEntry(std::string_view function);

// True for the function of the C library that the program's entry calls: what calls it is the
// entry, which has no name in a stripped program.
bool IsCalledByEntry(std::string_view function);

// True for modules of Jankbox that are loaded into programs.
bool IsJankbox(std::string_view module);

// Writes the addresses of the frames to show, innermost first, into `pcs`, which has room for
// sample.depth of them; returns how many: at least one of a stack that is not empty. `frames` may
// be null: all.
uint32_t ShownStack(const StackSample& sample, const FrameTable* frames, uint64_t* pcs);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_UNWIND_SHOWN_STACK_H_
