#include "tracer/hook/permanent_modules.h"

namespace jankbox {

// What the system's program needs is mostly in namespaces that an app's libraries must not open.
void MarkPermanent(std::vector<LoadedModule>* /*modules*/) {}

}  // namespace jankbox
