#include "tools/merge/systrace_text.h"

#include <algorithm>

#include "tools/merge/systrace_lanes.h"
#include "tools/merge/trace_line.h"

namespace jankbox::tools {
namespace {

using traceproto::TrackEvent;

constexpr size_t kWriteBytes = 64 << 10;

// Importers know the file by its first line and the columns by the names in the last ones.
constexpr char kColumns[] =
    "#\n"
    "# CLOCK_BOOTTIME, cut to microseconds: the report's own trace has nanoseconds\n"
    "#\n"
    "#                                      _-----=> irqs-off\n"
    "#                                     / _----=> need-resched\n"
    "#                                    | / _---=> hardirq/softirq\n"
    "#                                    || / _--=> preempt-depth\n"
    "#                                    ||| /     delay\n"
    "#           TASK-PID    TGID   CPU#  ||||    TIMESTAMP  FUNCTION\n"
    "#              | |        |      |   ||||       |         |\n";

// A bar ends a field of a counter or an asynchronous slice.
std::string Field(std::string text) {
  std::replace(text.begin(), text.end(), '|', '/');
  return text;
}

class SystraceWriter {
 public:
  SystraceWriter(const AppTrace& app, const std::function<Status(std::string_view)>& write)
      : app_(app), write_(write), pid_(std::to_string(app.pid)), lanes_(LanesOf(app)) {}

  Status Write() {
    Header();
    size_t kernel = 0;
    for (const AppEvent& event : app_.events) {
      for (; kernel < app_.kernel_events.size() &&
             app_.kernel_events[kernel].event().timestamp() < event.ts_ns;
           ++kernel) {
        Line(TraceLine(app_.kernel_events[kernel]));
      }
      Marker(event);
      if (!status_.ok()) return status_;
    }
    for (; kernel < app_.kernel_events.size(); ++kernel) {
      Line(TraceLine(app_.kernel_events[kernel]));
    }
    Drain();
    return status_;
  }

 private:
  void Header() {
    uint32_t cpus = 1;
    for (const auto& event : app_.kernel_events) cpus = std::max(cpus, event.cpu() + 1);
    const std::string entries = std::to_string(app_.events.size() + app_.kernel_events.size());
    pending_ = "# tracer: nop\n#\n# entries-in-buffer/entries-written: " + entries + "/" + entries +
               "   #P:" + std::to_string(cpus) + "\n" + kColumns;
  }

  void Line(const std::string& line) {
    if (line.empty()) return;
    pending_ += line;
    pending_ += '\n';
    if (pending_.size() >= kWriteBytes) Drain();
  }

  void Drain() {
    if (status_.ok() && !pending_.empty()) status_ = write_(pending_);
    pending_.clear();
  }

  void Marker(const AppEvent& event) {
    const std::string text = Text(event);
    if (text.empty()) return;
    const SystraceLane& lane = lanes_[event.track];
    Line(TraceLine(MarkerLine{
        .comm = lane.comm, .tid = lane.tid, .tgid = app_.pid, .ns = event.ts_ns, .text = text}));
  }

  std::string Text(const AppEvent& event) {
    const std::string& name = app_.names[event.name];
    const uint32_t cookie = lanes_[event.track].cookie;
    switch (event.type) {
      case TrackEvent::TYPE_SLICE_BEGIN:
        return cookie == 0 ? "B|" + pid_ + "|" + name : Async("S", name, cookie);
      case TrackEvent::TYPE_SLICE_END:
        // Its name is that of its track, as all of them there.
        return cookie == 0 ? "E|" + pid_ : Async("F", app_.tracks[event.track].name, cookie);
      case TrackEvent::TYPE_INSTANT:
        return "I|" + pid_ + "|" + name;
      case TrackEvent::TYPE_COUNTER:
        return "C|" + pid_ + "|" + Field(app_.tracks[event.track].name) + "|" +
               std::to_string(event.value);
      default:
        return {};
    }
  }

  std::string Async(const char* kind, const std::string& name, uint32_t cookie) const {
    return std::string(kind) + "|" + pid_ + "|" + Field(name) + "|" + std::to_string(cookie);
  }

  const AppTrace& app_;
  const std::function<Status(std::string_view)>& write_;
  const std::string pid_;
  Status status_;
  std::string pending_;
  const std::vector<SystraceLane> lanes_;  // by track
};

}  // namespace

Status WriteSystrace(const AppTrace& app, const std::function<Status(std::string_view)>& write) {
  return SystraceWriter(app, write).Write();
}

}  // namespace jankbox::tools
