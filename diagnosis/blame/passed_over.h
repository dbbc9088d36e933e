// Which functions are not the app's own code: the C library, allocators, interpreters, dispatchers
// of toolkits, and Jankbox's proxies. They only carry out what their caller asked for. The one list
// of it, for keys and for readers (docs/identity.md). Pure.
#ifndef JANKBOX_DIAGNOSIS_BLAME_PASSED_OVER_H_
#define JANKBOX_DIAGNOSIS_BLAME_PASSED_OVER_H_

#include <string_view>

namespace jankbox {

// True if `function` (demangled; may be empty) of `module` (file name) is passed over.
bool IsPassedOver(std::string_view module, std::string_view function);

// True for functions of a language's library that are compiled into the programs that use it:
// templates of C++, generic functions of Rust. The keys of an incident do not pass them over.
bool IsLanguageLibrary(std::string_view function);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_BLAME_PASSED_OVER_H_
