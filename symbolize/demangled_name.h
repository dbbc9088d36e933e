// Symbols of C++ and Rust as a person writes them, by libiberty, which allocates nothing for it.
// Untrusted input: a worker calls it, since a name may be made to take very long. Pure.
#ifndef JANKBOX_SYMBOLIZE_DEMANGLED_NAME_H_
#define JANKBOX_SYMBOLIZE_DEMANGLED_NAME_H_

#include <string>
#include <string_view>

namespace jankbox {

// As a report has it: valid UTF-8, at most 1,024 bytes. A name that is not mangled stays as it is.
std::string DemangledName(std::string_view symbol);

}  // namespace jankbox

#endif  // JANKBOX_SYMBOLIZE_DEMANGLED_NAME_H_
