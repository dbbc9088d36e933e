// NT_GNU_BUILD_ID in the bytes of an ELF note segment or section. Pure, bounds-checked; allocates
// the string.
#ifndef JANKBOX_TRACER_UNWIND_BUILD_ID_NOTE_H_
#define JANKBOX_TRACER_UNWIND_BUILD_ID_NOTE_H_

#include <cstddef>
#include <span>
#include <string>

namespace jankbox {

// Lower-case hexadecimal; empty if there is none.
std::string BuildIdOfNotes(std::span<const std::byte> notes);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_UNWIND_BUILD_ID_NOTE_H_
