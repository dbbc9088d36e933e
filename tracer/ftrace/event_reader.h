// Takes events out of an instance's buffers through libtracefs and libtraceevent, which are loaded
// when first needed (base/private_library.h) and are no dependency of Jankbox. Sealing thread;
// allocates.
#ifndef JANKBOX_TRACER_FTRACE_EVENT_READER_H_
#define JANKBOX_TRACER_FTRACE_EVENT_READER_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "tracer/ftrace/kernel_event.h"

namespace jankbox {

class EventReader {
 public:
  virtual ~EventReader() = default;

  // kUnsupported if the libraries are missing.
  static Result<std::unique_ptr<EventReader>> Open(const std::string& tracefs);

  struct Sink {
    std::function<void(const KernelEvent&)> event;
    std::function<void(uint64_t stamp, std::string_view text)> marker;  // of trace_marker
  };

  // Passes on and thereby removes the contents of the buffers of instance `name`, in order of time.
  virtual Status Take(const std::string& name, const Sink& sink) = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_FTRACE_EVENT_READER_H_
