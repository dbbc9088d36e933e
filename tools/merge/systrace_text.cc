#include "tools/merge/systrace_text.h"

#include <algorithm>
#include <unordered_map>

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
      : app_(app), write_(write), pid_(std::to_string(app.pid)) {}

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
    const int32_t tid = app_.tracks[event.track].tid;
    const auto thread = app_.threads.find(tid != 0 ? tid : app_.pid);
    Line(TraceLine(
        MarkerLine{.comm = thread != app_.threads.end() ? thread->second : app_.process_name,
                   .tid = tid != 0 ? tid : app_.pid,
                   .tgid = app_.pid,
                   .ns = event.ts_ns,
                   .text = text}));
  }

  std::string Text(const AppEvent& event) {
    const AppTrack& track = app_.tracks[event.track];
    const std::string& name = app_.names[event.name];
    switch (event.type) {
      case TrackEvent::TYPE_SLICE_BEGIN:
        return track.tid != 0 ? "B|" + pid_ + "|" + name : AsyncBegin(event);
      case TrackEvent::TYPE_SLICE_END:
        return track.tid != 0 ? "E|" + pid_ : AsyncEnd(event);
      case TrackEvent::TYPE_INSTANT:
        return "I|" + pid_ + "|" + name;
      case TrackEvent::TYPE_COUNTER:
        return "C|" + pid_ + "|" + Field(track.name) + "|" + std::to_string(event.value);
      default:
        return {};
    }
  }

  std::string AsyncBegin(const AppEvent& event) {
    const std::string rest =
        "|" + pid_ + "|" + Field(app_.names[event.name]) + "|" + std::to_string(++cookie_);
    open_[event.track].push_back(rest);
    return "S" + rest;
  }

  std::string AsyncEnd(const AppEvent& event) {
    std::vector<std::string>& open = open_[event.track];
    if (open.empty()) return {};
    const std::string rest = open.back();
    open.pop_back();
    return "F" + rest;
  }

  const AppTrace& app_;
  const std::function<Status(std::string_view)>& write_;
  const std::string pid_;
  Status status_;
  std::string pending_;
  uint32_t cookie_ = 0;
  std::unordered_map<uint32_t, std::vector<std::string>> open_;  // by track
};

}  // namespace

Status WriteSystrace(const AppTrace& app, const std::function<Status(std::string_view)>& write) {
  return SystraceWriter(app, write).Write();
}

}  // namespace jankbox::tools
