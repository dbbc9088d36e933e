/* Where the platform declares more than the NDK does; one header here. */
#ifndef JANKBOX_TESTS_TRACER_ATRACE_CUTILS_SHIM_SYS__SYSTEM_PROPERTIES_H_
#define JANKBOX_TESTS_TRACER_ATRACE_CUTILS_SHIM_SYS__SYSTEM_PROPERTIES_H_

#include "tests/tracer/atrace/cutils_shim/sys/system_properties.h"

#endif
