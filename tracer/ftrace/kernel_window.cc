#include "tracer/ftrace/kernel_window.h"

namespace jankbox {

std::string KernelWindow::Note() const {
  switch (source) {
    case Source::kFtrace: {
      std::string note = "kernel scheduling: ftrace, trace_clock " + trace_clock + ", within " +
                         std::to_string(clock_error_ns) + " ns of the app's slices";
      if (untold_switches != 0) {
        note += ", " + std::to_string(untold_switches) + " missed switches inferred";
      }
      if (lost_events != 0) note += ", " + std::to_string(lost_events) + " events lost";
      return note;
    }
    case Source::kOwnSwitches:
      return "kernel scheduling: own context switches only: " + reason;
    case Source::kNone:
      break;
  }
  return "kernel scheduling: schedstat only: " + reason;
}

}  // namespace jankbox
