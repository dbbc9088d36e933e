// A C++ program that starts Jankbox, records slices and seals a report into the folder of its first
// argument.
#include <jankbox/jankbox.h>
#include <jankbox/trace.h>

#include <iostream>

namespace {

void Work() {
  JANKBOX_TRACE_FUNC();
  JANKBOX_TRACE("inner");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  jankbox_options options = {};
  options.size = sizeof(options);
  options.dir = argv[1];
  options.min_free_mib = UINT32_MAX;
  if (jankbox_start(&options) != JANKBOX_OK) {
    std::cerr << "jankbox_start: " << jankbox_last_error() << "\n";
    return 1;
  }
  {
    jankbox::ScopedDispatch dispatch("consumer");
    Work();
  }
  if (jankbox_snapshot("consumer") != JANKBOX_OK || jankbox_flush(10000) != JANKBOX_OK) {
    std::cerr << "no report: " << jankbox_last_error() << "\n";
    return 1;
  }
  jankbox_stop();
  return 0;
}
