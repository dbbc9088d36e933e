// The constants are fields of Java classes: the Java side, which is not there yet, reads them by
// reflection and passes them to BinderMethods::Add() through JNI. Until then nothing is known.
#include "monitors/blocking/binder_methods.h"

namespace jankbox {

size_t LoadBinderMethods(BinderMethods*) { return 0; }

}  // namespace jankbox
