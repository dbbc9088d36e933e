/* Checks TracefsLibrary against the signatures of libtracefs and libtraceevent. No code. */
#include <tracefs.h>

#include "tracer/ftrace/tracefs_library.h"

#define JANKBOX_SAME(member, function)                                                         \
  _Static_assert(__builtin_types_compatible_p(__typeof__(((struct TracefsLibrary*)0)->member), \
                                              __typeof__(&function)),                          \
                 #function " has another signature")

JANKBOX_SAME(alloc_formats, tep_alloc);
JANKBOX_SAME(parse_header_page, tep_parse_header_page);
JANKBOX_SAME(parse_event, tep_parse_event);
JANKBOX_SAME(instance_alloc, tracefs_instance_alloc);
JANKBOX_SAME(instance_free, tracefs_instance_free);
JANKBOX_SAME(iterate_raw_events, tracefs_iterate_raw_events);
JANKBOX_SAME(set_loglevel, tracefs_set_loglevel);
JANKBOX_SAME(free_formats, tep_free);
JANKBOX_SAME(find_event_by_name, tep_find_event_by_name);
JANKBOX_SAME(find_any_field, tep_find_any_field);
