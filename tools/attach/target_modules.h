// The modules of the recorded process from its list of mappings and the ELF headers in its memory,
// whatever loader it has. Asked by the watching thread only, but for LoadModulesOf().
#ifndef JANKBOX_TOOLS_ATTACH_TARGET_MODULES_H_
#define JANKBOX_TOOLS_ATTACH_TARGET_MODULES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tracer/unwind/module_map.h"

namespace jankbox::tools {

// What the kernel puts after the path of a file that is no more.
inline constexpr std::string_view kDeletedFile = " (deleted)";

// A mapped file: the lowest and the highest address of its consecutive mappings.
struct MappedFile {
  uint64_t start = 0;
  uint64_t end = 0;
  bool executable = false;  // part of it is
  std::string path;         // without " (deleted)"; "[vdso]" of the kernel's
};

// The files in the text of /proc/PID/maps, in the order of their addresses.
std::vector<MappedFile> ParseMappings(std::string_view maps);

class TargetModules final : public ModuleSource {
 public:
  ModuleMap Load() override;
  // Reads the list of mappings once a second at most.
  bool Stale(const ModuleMap& loaded) override;

 private:
  void Refresh();

  ModuleMap current_;
  std::string list_;  // of the mappings that `current_` was read from
  uint64_t refreshed_ns_ = 0;
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_ATTACH_TARGET_MODULES_H_
