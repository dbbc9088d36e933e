#include "tools/merge/app_marks.h"

#include <set>
#include <string>
#include <unordered_map>

namespace jankbox::tools {
namespace {

using traceproto::TrackEvent;

class AppMarkReader {
 public:
  AppMarkReader(const AppTrace& app, const CaptureFacts& facts) : app_(app) {
    for (uint32_t i = 0; i < facts.names.size(); ++i) captured_[facts.names[i]] = i;
    for (const KernelMark& mark : facts.marks) wanted_.insert(KeyOf(mark));
  }

  std::map<MarkKey, std::vector<uint64_t>> Read() {
    for (const AppEvent& event : app_.events) Take(event);
    return std::move(marks_);
  }

 private:
  void Take(const AppEvent& event) {
    const AppTrack& track = app_.tracks[event.track];
    switch (event.type) {
      case TrackEvent::TYPE_SLICE_BEGIN:
        open_[event.track].push_back(event.name);
        Add(event, track.tid != 0 ? 'B' : 'S', track.tid, app_.names[event.name]);
        break;
      case TrackEvent::TYPE_SLICE_END: {
        std::vector<uint32_t>& open = open_[event.track];
        if (open.empty()) break;
        if (track.tid == 0) Add(event, 'F', 0, app_.names[open.back()]);
        open.pop_back();
        break;
      }
      case TrackEvent::TYPE_INSTANT:
        Add(event, 'I', track.tid, app_.names[event.name]);
        break;
      case TrackEvent::TYPE_COUNTER:
        Add(event, 'C', 0, track.name);
        break;
      default:
        break;
    }
  }

  void Add(const AppEvent& event, char kind, int32_t tid, const std::string& text) {
    const auto name = captured_.find(text);
    if (name == captured_.end()) return;
    const MarkKey key{
        .kind = kind, .tid = tid, .name = name->second, .value = kind == 'C' ? event.value : 0};
    if (wanted_.contains(key)) marks_[key].push_back(event.ts_ns);
  }

  const AppTrace& app_;
  std::unordered_map<std::string, uint32_t> captured_;
  std::set<MarkKey> wanted_;
  std::unordered_map<uint32_t, std::vector<uint32_t>> open_;  // names, by track
  std::map<MarkKey, std::vector<uint64_t>> marks_;
};

}  // namespace

MarkKey KeyOf(const KernelMark& mark) {
  switch (mark.kind) {
    case 'B':
      return {.kind = 'B', .tid = mark.tid, .name = mark.name};
    case 'I':
    case 'N':
      return {.kind = 'I', .tid = mark.tid, .name = mark.name};
    case 'C':
      return {.kind = 'C', .name = mark.name, .value = mark.value};
    case 'S':
    case 'F':
      return {.kind = mark.kind, .name = mark.name};
    default:
      return {};
  }
}

std::map<MarkKey, std::vector<uint64_t>> AppMarks(const AppTrace& app, const CaptureFacts& facts) {
  return AppMarkReader(app, facts).Read();
}

}  // namespace jankbox::tools
