// `jankbox clean`: collects what processes of this user left that died without jankbox_stop().
#ifndef JANKBOX_TOOLS_RING_CLEAN_COMMAND_H_
#define JANKBOX_TOOLS_RING_CLEAN_COMMAND_H_

namespace jankbox::tools {

struct CleanOptions {
  bool json = false;
};

// Prints what it did; kExitFailed only if that cannot be printed.
int RunClean(const CleanOptions& options);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_RING_CLEAN_COMMAND_H_
