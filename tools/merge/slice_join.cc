#include "tools/merge/slice_join.h"

#include <algorithm>
#include <map>

#include "tools/merge/app_marks.h"

namespace jankbox::tools {
namespace {

using traceproto::TrackEvent;

// From our record of a marker to the kernel's: a system call, before which the thread may be
// preempted for some turns of others.
constexpr uint64_t kWriteNs = 1'000'000;
constexpr uint64_t kPreemptedNs = 250'000'000;
constexpr uint64_t kNever = UINT64_MAX / 2;
constexpr int kMaxSteps = 1000;

struct Slice {
  uint64_t from;
  uint64_t to;
};

// Which slice of the app is open at a moment, for one thread.
class OpenSlices {
 public:
  void Begin(uint64_t ns) {
    open_.push_back(slices_.size());
    slices_.push_back({ns, kNever});
    changes_.push_back({ns, static_cast<int64_t>(open_.back())});
  }
  void End(uint64_t ns) {
    if (open_.empty()) return;
    slices_[open_.back()].to = ns;
    open_.pop_back();
    changes_.push_back({ns, open_.empty() ? -1 : static_cast<int64_t>(open_.back())});
  }

  // The innermost one after everything that happens before `ns`; null if none is open.
  const Slice* Before(uint64_t ns) const {
    auto change = std::lower_bound(changes_.begin(), changes_.end(), ns,
                                   [](const Change& a, uint64_t at) { return a.ns < at; });
    if (change == changes_.begin()) return nullptr;
    --change;
    return change->slice < 0 ? nullptr : &slices_[static_cast<size_t>(change->slice)];
  }
  bool ChangesAt(uint64_t ns) const {
    const auto change = std::lower_bound(changes_.begin(), changes_.end(), ns,
                                         [](const Change& a, uint64_t at) { return a.ns < at; });
    return change != changes_.end() && change->ns == ns;
  }

 private:
  struct Change {
    uint64_t ns;
    int64_t slice;
  };
  std::vector<Slice> slices_;
  std::vector<size_t> open_;
  std::vector<Change> changes_;
};

// How far the ends of a slice may move: never past the marker before it or after it.
struct Room {
  uint64_t earliest = 0;
  uint64_t latest = kNever;
  uint64_t clock_error_ns = 0;  // a slice grows by no more
};

// Moves the ends of `slice` by the smaller steps until it is within, around or beside each of the
// app's.
class Nesting {
 public:
  Nesting(const OpenSlices& app, const Room& room) : app_(app), room_(room) {}

  Slice Fit(Slice slice) {
    const bool ends = slice.to != kNever;
    while (app_.ChangesAt(slice.from)) ++slice.from;
    if (ends && app_.ChangesAt(slice.to)) {
      const Slice* around = app_.Before(slice.to);
      slice.to = around != nullptr && around->from < slice.from ? slice.to - 1 : slice.to + 1;
    }
    for (int step = 0; step < kMaxSteps && slice.from < slice.to; ++step) {
      const Slice* first = app_.Before(slice.from + 1);
      const Slice* last = ends ? app_.Before(slice.to) : nullptr;
      if (first != nullptr && first->to < slice.to) {
        LeaveEnd(*first, &slice);
      } else if (last != nullptr && last->from > slice.from && last->to > slice.to) {
        LeaveBegin(*last, &slice);
      } else {
        break;
      }
    }
    slice.to = std::max(slice.to, slice.from);
    return slice;
  }

 private:
  bool MayGrow(uint64_t by) { return by <= room_.clock_error_ns && ++growths_ <= kMaxGrowths; }

  // `app` ends inside: the slice is to end before, begin after, or begin before `app` does.
  void LeaveEnd(const Slice& app, Slice* slice) {
    const uint64_t shorter = slice->to == kNever ? 0 : slice->to - app.to;
    const uint64_t later = slice->to == kNever ? kNever : app.to - slice->from;
    const uint64_t earlier = slice->from - app.from;
    if (earlier < std::min(shorter, later) && app.from > room_.earliest + 1 && MayGrow(earlier)) {
      slice->from = app.from - 1;
    } else if (shorter <= later) {
      slice->to = app.to - 1;
    } else {
      slice->from = app.to + 1;
    }
  }

  // `app` begins inside and ends after: the slice is to begin after, end before, or end after
  // `app`.
  void LeaveBegin(const Slice& app, Slice* slice) {
    const uint64_t shorter = slice->to - app.from;
    const uint64_t later = app.from - slice->from;
    const uint64_t longer = app.to - slice->to;
    if (longer < std::min(shorter, later) && app.to + 1 < room_.latest && MayGrow(longer)) {
      slice->to = app.to + 1;
    } else if (shorter <= later) {
      slice->to = app.from - 1;
    } else {
      slice->from = app.from + 1;
    }
  }

  static constexpr int kMaxGrowths = 64;  // then slices only shrink, which ends
  const OpenSlices& app_;
  const Room room_;
  int growths_ = 0;
};

class Joiner {
 public:
  Joiner(const AppTrace& app, const CaptureFacts& facts, const ClockFit& fit)
      : app_(app), facts_(facts), fit_(fit) {}

  SliceJoin Join() {
    DropDuplicates();
    std::map<int32_t, std::vector<const KernelMark*>> by_thread;
    for (const KernelMark& mark : facts_.marks) {
      if (mark.kind != 'B' && mark.kind != 'E') continue;
      if (app_.threads.contains(mark.tid)) by_thread[mark.tid].push_back(&mark);
    }
    std::map<int32_t, OpenSlices> app_slices;
    for (const AppEvent& event : app_.events) {
      const int32_t tid = app_.tracks[event.track].tid;
      if (tid == 0 || !by_thread.contains(tid)) continue;
      if (event.type == TrackEvent::TYPE_SLICE_BEGIN) app_slices[tid].Begin(event.ts_ns);
      if (event.type == TrackEvent::TYPE_SLICE_END) app_slices[tid].End(event.ts_ns);
    }
    for (const auto& [tid, marks] : by_thread) Nest(marks, app_slices[tid]);
    std::stable_sort(join_.added.begin(), join_.added.end(),
                     [](const auto& a, const auto& b) { return a.boottime_ns < b.boottime_ns; });
    return std::move(join_);
  }

 private:
  struct KernelSlice {
    const KernelMark* begin;
    const KernelMark* end;  // null: the capture has none
    int64_t parent;         // index; -1: none
    size_t begin_at;        // in the thread's marks
    size_t end_at;
  };

  // One of the app's for each of the capture's, in order.
  void DropDuplicates() {
    const auto app_marks = AppMarks(app_, facts_);
    std::map<MarkKey, size_t> used;
    const uint64_t tolerance = fit_.bound_ns + kWriteNs;
    for (const KernelMark& mark : facts_.marks) {
      const MarkKey key = KeyOf(mark);
      const auto ours = app_marks.find(key);
      if (ours == app_marks.end()) continue;
      const uint64_t ns = fit_.ToBoottime(mark.stamp);
      size_t& next = used[key];
      const std::vector<uint64_t>& times = ours->second;
      while (next < times.size() && times[next] + tolerance + kPreemptedNs < ns) ++next;
      if (next == times.size() || times[next] > ns + tolerance) continue;
      ++next;
      Drop(mark);
      ++join_.duplicates;
    }
  }

  void Drop(const KernelMark& mark) { join_.dropped.insert(mark.ordinal); }
  bool Dropped(const KernelMark& mark) const { return join_.dropped.contains(mark.ordinal); }

  std::vector<KernelSlice> PairUp(const std::vector<const KernelMark*>& marks) {
    std::vector<KernelSlice> slices;
    std::vector<int64_t> open;  // -1: dropped as a duplicate
    std::vector<int64_t> kept;
    for (size_t at = 0; at < marks.size(); ++at) {
      const KernelMark* mark = marks[at];
      if (mark->kind == 'B') {
        const bool dropped = Dropped(*mark);
        open.push_back(dropped ? -1 : static_cast<int64_t>(slices.size()));
        if (dropped) continue;
        slices.push_back({mark, nullptr, kept.empty() ? -1 : kept.back(), at, at});
        kept.push_back(open.back());
        continue;
      }
      if (open.empty()) {
        Drop(*mark);
        ++join_.unmatched_ends;
        continue;
      }
      if (open.back() < 0) {
        Drop(*mark);
        ++join_.duplicates;
      } else {
        slices[static_cast<size_t>(open.back())].end = mark;
        slices[static_cast<size_t>(open.back())].end_at = at;
        kept.pop_back();
      }
      open.pop_back();
    }
    return slices;
  }

  void Nest(const std::vector<const KernelMark*>& marks, const OpenSlices& app) {
    const std::vector<KernelSlice> slices = PairUp(marks);
    std::vector<Slice> fitted;
    for (const KernelSlice& slice : slices) {
      const Slice as_is = {fit_.ToBoottime(slice.begin->stamp),
                           slice.end != nullptr ? fit_.ToBoottime(slice.end->stamp) : kNever};
      Slice fit = as_is;
      if (slice.parent >= 0) {
        const Slice& parent = fitted[static_cast<size_t>(slice.parent)];
        fit.from = std::clamp(fit.from, parent.from, parent.to);
        fit.to = std::clamp(fit.to, fit.from, parent.to);
      }
      fit = Nesting(app, RoomOf(slice, marks)).Fit(fit);
      fitted.push_back(fit);
      if (fit.from != as_is.from) Move(*slice.begin, as_is.from, fit.from);
      if (fit.to != as_is.to && slice.end != nullptr) Move(*slice.end, as_is.to, fit.to);
      // The capture never ends it, and a slice of the app around it ends.
      if (fit.to != kNever && slice.end == nullptr) AddEnd(*slice.begin, fit.to);
      if (fit.from != as_is.from || fit.to != as_is.to) ++join_.moved_slices;
    }
  }

  Room RoomOf(const KernelSlice& slice, const std::vector<const KernelMark*>& marks) const {
    Room room{.clock_error_ns = fit_.bound_ns};
    if (slice.begin_at > 0) {
      room.earliest = fit_.ToBoottime(marks[slice.begin_at - 1]->stamp) + 1;
    }
    if (slice.end_at + 1 < marks.size()) {
      room.latest = fit_.ToBoottime(marks[slice.end_at + 1]->stamp);
    }
    return room;
  }

  void Move(const KernelMark& mark, uint64_t from, uint64_t to) {
    Drop(mark);
    if (mark.kind == 'E') {
      AddEnd(mark, to);
    } else {
      join_.added.push_back(
          {to, mark.cpu, mark.tid,
           "B|" + std::to_string(mark.pid) + "|" + facts_.names[mark.name] + "\n"});
    }
    join_.longest_move_ns = std::max(join_.longest_move_ns, from < to ? to - from : from - to);
  }

  void AddEnd(const KernelMark& mark, uint64_t boottime_ns) {
    const std::string pid = mark.pid != 0 ? "|" + std::to_string(mark.pid) : "";
    join_.added.push_back({boottime_ns, mark.cpu, mark.tid, "E" + pid + "\n"});
  }

  const AppTrace& app_;
  const CaptureFacts& facts_;
  const ClockFit& fit_;
  SliceJoin join_;
};

}  // namespace

SliceJoin JoinSlices(const AppTrace& app, const CaptureFacts& facts, const ClockFit& fit) {
  return Joiner(app, facts, fit).Join();
}

}  // namespace jankbox::tools
