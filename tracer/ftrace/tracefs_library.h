// libtracefs and, with it, libtraceevent, bound at run time from libtracefs.so.1. THREAD-SAFE once
// loaded; loading is for Jankbox's own threads (takes the loader's lock, allocates). C as well as
// C++: <tracefs.h> itself is no C++, so tracefs_signatures.c checks these declarations against it.
#ifndef JANKBOX_TRACER_FTRACE_TRACEFS_LIBRARY_H_
#define JANKBOX_TRACER_FTRACE_TRACEFS_LIBRARY_H_

#include <sched.h>
#include <traceevent/event-parse.h>

struct tracefs_instance;

typedef int (*JankboxOnRecord)(struct tep_event*, struct tep_record*, int cpu, void* context);

struct TracefsLibrary {
  struct tep_handle* (*alloc_formats)(void);
  int (*parse_header_page)(struct tep_handle*, char* text, unsigned long size, int long_size);
  enum tep_errno (*parse_event)(struct tep_handle*, const char* text, unsigned long size,
                                const char* system);
  struct tracefs_instance* (*instance_alloc)(const char* tracing_dir, const char* name);
  void (*instance_free)(struct tracefs_instance*);
  int (*iterate_raw_events)(struct tep_handle*, struct tracefs_instance*, cpu_set_t*, int cpu_size,
                            JankboxOnRecord, void* context);
  void (*set_loglevel)(enum tep_loglevel);
  void (*free_formats)(struct tep_handle*);
  struct tep_event* (*find_event_by_name)(struct tep_handle*, const char* system, const char* name);
  struct tep_format_field* (*find_any_field)(struct tep_event*, const char* name);
};

#ifdef __cplusplus
#include <string>

namespace jankbox {

// Empty if all is bound, else what is missing.
std::string LoadTracefsLibrary(TracefsLibrary* library);

}  // namespace jankbox
#endif

#endif  // JANKBOX_TRACER_FTRACE_TRACEFS_LIBRARY_H_
