// Modules that the loader never unloads: the program, what it needs, what that needs, and so on. A
// reference to one of those is not needed. It would be expensive, too: glibc compares all names
// several times for each dlopen() of a library that was loaded with the program.
#ifndef JANKBOX_TRACER_HOOK_PERMANENT_MODULES_H_
#define JANKBOX_TRACER_HOOK_PERMANENT_MODULES_H_

#include <vector>

#include "tracer/hook/loaded_module.h"

namespace jankbox {

// Sets `is_permanent` of those that are known to be. A library whose file name another one has,
// too, is left out. `modules` as ListLoadedModules() returns them.
void MarkPermanent(std::vector<LoadedModule>* modules);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_HOOK_PERMANENT_MODULES_H_
