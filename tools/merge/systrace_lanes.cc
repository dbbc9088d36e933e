#include "tools/merge/systrace_lanes.h"

#include <algorithm>
#include <unordered_map>

namespace jankbox::tools {
namespace {

using traceproto::TrackEvent;

constexpr int32_t kFirstFreeTid = (1 << 22) + 1;  // the kernel's are at most PID_MAX_LIMIT

struct SlicesOfTrack {
  uint32_t open = 0;
  uint32_t deepest = 0;
  bool own_name = true;  // each is called like the track
};

std::vector<SlicesOfTrack> LookAtSlices(const AppTrace& app) {
  std::vector<SlicesOfTrack> tracks(app.tracks.size());
  for (const AppEvent& event : app.events) {
    SlicesOfTrack& track = tracks[event.track];
    if (event.type == TrackEvent::TYPE_SLICE_BEGIN) {
      track.deepest = std::max(track.deepest, ++track.open);
      track.own_name = track.own_name && app.names[event.name] == app.tracks[event.track].name;
    } else if (event.type == TrackEvent::TYPE_SLICE_END && track.open > 0) {
      --track.open;
    }
  }
  return tracks;
}

}  // namespace

std::vector<SystraceLane> LanesOf(const AppTrace& app) {
  std::unordered_map<uint64_t, const AppTrack*> by_uuid;
  for (const AppTrack& track : app.tracks) by_uuid[track.uuid] = &track;
  const auto comm_of = [&app](int32_t tid) {
    const auto thread = app.threads.find(tid);
    return thread != app.threads.end() ? thread->second : app.process_name;
  };
  const std::vector<SlicesOfTrack> slices = LookAtSlices(app);
  std::vector<SystraceLane> lanes;
  int32_t next_tid = kFirstFreeTid;
  uint32_t next_cookie = 1;
  for (size_t i = 0; i < app.tracks.size(); ++i) {
    const AppTrack& track = app.tracks[i];
    const auto parent = by_uuid.find(track.parent_uuid);
    const int32_t parent_tid = parent != by_uuid.end() ? parent->second->tid : 0;
    const int32_t tid = track.tid != 0 ? track.tid : app.pid;
    if (track.tid != 0 || slices[i].deepest == 0) {
      lanes.push_back({tid, comm_of(tid)});
    } else if (parent_tid == 0 && slices[i].deepest == 1 && slices[i].own_name) {
      lanes.push_back({tid, comm_of(tid), next_cookie++});
    } else {
      lanes.push_back(
          {next_tid++, parent_tid == 0 ? track.name : track.name + " of " + comm_of(parent_tid)});
    }
  }
  return lanes;
}

}  // namespace jankbox::tools
