// `jankbox ring dump`: prints the contents of a ring file, as a table or as JSON.
#ifndef JANKBOX_TOOLS_RING_RING_COMMAND_H_
#define JANKBOX_TOOLS_RING_RING_COMMAND_H_

#include <cstddef>
#include <string>

namespace jankbox::tools {

struct RingDumpOptions {
  std::string file;
  bool json = false;
  size_t events = 0;  // the last ones of each thread; 0: none
};

// Prints; kExitFailed if the file cannot be read or is no ring.
int RunRingDump(const RingDumpOptions& options);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_RING_RING_COMMAND_H_
