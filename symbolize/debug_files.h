// Finds debug files by build id: in folders of files with any names, in the layout
// .build-id/xx/yyyy.debug, in /usr/lib/debug, and, if DEBUGINFOD_URLS is set, at these servers. A
// worker reads the files: one that is damaged is named and passed over. Blocks on the disk and the
// network. REQUIRES one thread.
#ifndef JANKBOX_SYMBOLIZE_DEBUG_FILES_H_
#define JANKBOX_SYMBOLIZE_DEBUG_FILES_H_

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "symbolize/elf_contents.h"

namespace jankbox {

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

struct ElfIdentity {
  std::string path;
  std::string build_id;
  ElfContents contents = ElfContents::kNothing;
};

// The files of `paths` that have a build id. `problems`: of damaged ones, one line each.
std::vector<ElfIdentity> IdentifyElfFiles(const std::vector<std::string>& paths,
                                          std::vector<std::string>* problems);

// Calls `pass` with each file in `folder` and below; folders that cannot be read are passed over.
void ForEachFileBelow(const std::string& folder,
                      const std::function<void(const std::string& path)>& pass);

// Whether DEBUGINFOD_URLS names servers.
bool HasDebuginfodServers();
// Asks these servers. The path of the file in their library's cache; "": none of them has it. Waits
// for the network.
std::string AskDebuginfod(const std::string& build_id);

}  // namespace jankbox

#endif  // JANKBOX_SYMBOLIZE_DEBUG_FILES_H_
