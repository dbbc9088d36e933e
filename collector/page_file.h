// The files of collector/page/, part of the program (cmake/embed_files.cmake writes the
// definitions). THREAD-SAFE: constants.
#ifndef JANKBOX_COLLECTOR_PAGE_FILE_H_
#define JANKBOX_COLLECTOR_PAGE_FILE_H_

#include <string_view>

namespace jankbox::collector {

// The content of page/<name>; empty if there is no such file.
std::string_view PageFile(std::string_view name);

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_PAGE_FILE_H_
