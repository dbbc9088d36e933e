// Finds debug files by build id: in folders of files with any names, in the layout
// .build-id/xx/yyyy.debug, in /usr/lib/debug, and, if DEBUGINFOD_URLS is set, at these servers. A
// worker reads the files: one that is damaged is named and passed over. Blocks on the disk and the
// network. REQUIRES one thread.
#ifndef JANKBOX_TOOLS_SYMBOLIZE_DEBUG_FILES_H_
#define JANKBOX_TOOLS_SYMBOLIZE_DEBUG_FILES_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tools/symbolize/elf_contents.h"

namespace jankbox::tools {

struct DebugFile {
  std::string path;
  ElfContents contents = ElfContents::kNothing;
};

struct DebugFiles {
  std::map<std::string, DebugFile> by_build_id;  // the file that says most
  std::vector<std::string> problems;             // one line each
};

// `build_ids`: lower-case hexadecimal.
DebugFiles FindDebugFiles(const std::vector<std::string>& folders,
                          const std::set<std::string>& build_ids);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_SYMBOLIZE_DEBUG_FILES_H_
