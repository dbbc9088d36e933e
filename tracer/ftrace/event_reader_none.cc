#include "tracer/ftrace/event_reader.h"

namespace jankbox {

Result<std::unique_ptr<EventReader>> EventReader::Open(const std::string&) {
  return Status(StatusCode::kUnsupported, "built without libtracefs");
}

}  // namespace jankbox
