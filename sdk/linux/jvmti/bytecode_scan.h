// Finds a place for a breakpoint in a method of the JDK: behind its first write of a field. A
// breakpoint inside of an instruction would break the method, so instructions are decoded from the
// start, and one that is not known ends the search. Pure; NO-ALLOC.
#ifndef JANKBOX_SDK_LINUX_JVMTI_BYTECODE_SCAN_H_
#define JANKBOX_SDK_LINUX_JVMTI_BYTECODE_SCAN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace jankbox {

// The index of the instruction after the first `putfield` of a method's bytecode; none if there is
// no such instruction, or a `switch` or `wide` comes before it.
std::optional<size_t> IndexAfterFirstFieldWrite(std::span<const uint8_t> code);

}  // namespace jankbox

#endif  // JANKBOX_SDK_LINUX_JVMTI_BYTECODE_SCAN_H_
