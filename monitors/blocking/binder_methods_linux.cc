#include "monitors/blocking/binder_methods.h"

namespace jankbox {

size_t LoadBinderMethods(BinderMethods*) { return 0; }

}  // namespace jankbox
