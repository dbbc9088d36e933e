#include "tracer/ftrace/tracefs_library.h"

#include "base/private_library.h"

namespace jankbox {
namespace {

constexpr char kSoname[] = "libtracefs.so.1";

}  // namespace

std::string LoadTracefsLibrary(TracefsLibrary* library) {
  void* handle = OpenPrivateLibrary(kSoname);
  if (handle == nullptr) return std::string(kSoname) + NotOpenedText();
  // tep_… are libtraceevent's, which libtracefs brings.
  const bool bound =
      BindSymbol(handle, "tep_alloc", &library->alloc_formats) &&
      BindSymbol(handle, "tep_parse_header_page", &library->parse_header_page) &&
      BindSymbol(handle, "tep_parse_event", &library->parse_event) &&
      BindSymbol(handle, "tracefs_instance_alloc", &library->instance_alloc) &&
      BindSymbol(handle, "tracefs_instance_free", &library->instance_free) &&
      BindSymbol(handle, "tracefs_iterate_raw_events", &library->iterate_raw_events) &&
      BindSymbol(handle, "tracefs_set_loglevel", &library->set_loglevel) &&
      BindSymbol(handle, "tep_free", &library->free_formats) &&
      BindSymbol(handle, "tep_find_event_by_name", &library->find_event_by_name) &&
      BindSymbol(handle, "tep_find_any_field", &library->find_any_field);
  return bound ? std::string() : std::string(kSoname) + " lacks required functions";
}

}  // namespace jankbox
