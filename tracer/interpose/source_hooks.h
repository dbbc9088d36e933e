// Installs the proxies of tracer/interpose in every module of the app: ends of the process always;
// threads, file calls and locks of watched threads.
#ifndef JANKBOX_TRACER_INTERPOSE_SOURCE_HOOKS_H_
#define JANKBOX_TRACER_INTERPOSE_SOURCE_HOOKS_H_

#include "tracer/hook/hook_set.h"

namespace jankbox {

// Which sources are on.
struct SourceSet {
  bool threads = true;
  bool io = true;
  bool locks = true;
};

// On the thread that starts, before recording begins.
void AddSourceHooks(const SourceSet& sources, HookSet* hooks);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_INTERPOSE_SOURCE_HOOKS_H_
