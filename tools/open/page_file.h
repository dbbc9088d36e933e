// The files of tools/open/page/, part of the program (cmake/embed_files.cmake writes the
// definitions). THREAD-SAFE: constants.
#ifndef JANKBOX_TOOLS_OPEN_PAGE_FILE_H_
#define JANKBOX_TOOLS_OPEN_PAGE_FILE_H_

#include <string_view>

namespace jankbox::tools {

// The content of page/<name>; empty if there is no such file.
std::string_view PageFile(std::string_view name);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_OPEN_PAGE_FILE_H_
