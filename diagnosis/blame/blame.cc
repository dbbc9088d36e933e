#include "diagnosis/blame/blame.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/compact_sort.h"
#include "diagnosis/blame/blamed_stack.h"
#include "diagnosis/blame/call_tree.h"
#include "diagnosis/blame/method_list.h"
#include "diagnosis/blame/render_work.h"
#include "tracer/snapshot/stack_samples.h"

namespace jankbox {
namespace {

// The calls of one thread, as a tree of what ran after `from_ticks`: a call that had ended by then
// is none of it, one that was open begins there.
class TreeFrom {
 public:
  TreeFrom(CallTree* tree, uint64_t from_ticks) : tree_(tree), from_ticks_(from_ticks) {}

  // Events are missing, or the chunk is the first: these calls are open.
  void Restart(uint64_t ticks, const std::vector<OpenCall>& open_calls) {
    At(ticks);
    if (started_) tree_->LeaveAll(ticks);
    open_.clear();
    for (const OpenCall& call : open_calls) {
      if (call.kind == EventKind::kBegin) Begin(call.id, ticks);
    }
  }
  void Begin(uint64_t id, uint64_t ticks) {
    At(ticks);
    if (started_) {
      tree_->Enter(id, ticks);
    } else {
      open_.push_back(id);
    }
  }
  void End(uint64_t id, uint64_t ticks) {
    At(ticks);
    if (started_) return tree_->Leave(id, ticks);
    const auto match = std::find(open_.rbegin(), open_.rend(), id);
    if (match != open_.rend()) open_.erase(match.base() - 1, open_.end());
  }
  // What is open never ended.
  void Finish(uint64_t to_ticks) {
    if (!started_) Start();
    tree_->LeaveAll(to_ticks);
  }

 private:
  void At(uint64_t ticks) {
    if (!started_ && ticks > from_ticks_) Start();
  }
  void Start() {
    started_ = true;
    for (const uint64_t id : open_) tree_->Enter(id, from_ticks_);
  }

  CallTree* const tree_;
  const uint64_t from_ticks_;
  bool started_ = false;
  std::vector<uint64_t> open_;  // before from_ticks_, outermost first
};

// The methods of thread `tid` between the two moments, weighed in ticks.
CallTree MethodTree(const RingWindow& window, int32_t tid, uint64_t from_ticks, uint64_t to_ticks) {
  CallTree tree;
  for (const WindowThread& thread : window.threads) {
    if (thread.tid != tid) continue;
    TreeFrom calls(&tree, from_ticks);
    for (const WindowChunk& chunk : thread.chunks) {
      if (chunk.gap_before || &chunk == &thread.chunks.front()) {
        calls.Restart(std::min(chunk.base_ticks, to_ticks), chunk.open_calls);
      }
      EventCursor cursor(chunk);
      EventRecord record;
      while (cursor.Next(&record) && record.ticks <= to_ticks) {
        if (record.kind == EventKind::kBegin) calls.Begin(record.id, record.ticks);
        if (record.kind == EventKind::kEnd) calls.End(record.id, record.ticks);
      }
    }
    calls.Finish(to_ticks);
  }
  return tree;
}

// The blamed path, innermost first.
std::vector<ReportFrame> BlamedMethods(const CallTree& tree, const MethodNames& names) {
  std::vector<ReportFrame> methods;
  for (uint64_t id : tree.BlamedPath()) {
    methods.push_back({names.NameOf(static_cast<uint32_t>(id)), "[method]", 0, ""});
  }
  std::reverse(methods.begin(), methods.end());
  return methods;
}

void ListMethods(const CallTree& tree, const MethodNames& names, double ns_per_tick, Blame* blame) {
  std::vector<CallItem> items = tree.Items();
  for (CallItem& item : items) {
    item.weight = static_cast<uint64_t>(static_cast<double>(item.weight) * ns_per_tick);
  }
  const MethodList list = TrimMethods(std::move(items));
  for (const CallItem& item : list.items) {
    blame->methods.push_back({names.NameOf(static_cast<uint32_t>(item.key)), item.depth, item.count,
                              item.weight, item.open});
  }
  blame->methods_left_out = static_cast<uint32_t>(list.left_out);
}

constexpr size_t kListedRenderWork = 10;
// A sample stands for as long at most: a little more than the longest interval of the watcher's.
constexpr uint64_t kMostSampleNs = 400'000'000;

// On every thread: what is drawn late is often made by another one than the incident's.
void ListRenderWork(const RingWindow& window, uint64_t from_ticks, uint64_t to_ticks,
                    const MethodNames& names, double ns_per_tick, Blame* blame) {
  const bool some = std::any_of(names.begin(), names.end(), [](const auto& name) {
    return !RenderWorkName(name.second).empty();
  });
  if (!some) return;
  std::set<int32_t> tids;  // the window may contain two threads that had one tid
  for (const WindowThread& thread : window.threads) tids.insert(thread.tid);
  std::vector<ReportRenderWork>& list = blame->render_work;
  for (const int32_t tid : tids) {
    const CallTree tree = MethodTree(window, tid, from_ticks, to_ticks);
    for (const CallItem& item : RenderWork(tree.Items(), names)) {
      if (item.weight == 0) continue;
      list.push_back({std::string(RenderWorkName(*names.Find(static_cast<uint32_t>(item.key)))),
                      tid, item.count,
                      static_cast<uint64_t>(static_cast<double>(item.weight) * ns_per_tick),
                      item.open});
    }
  }
  CompactSort(&list, [](const ReportRenderWork& a, const ReportRenderWork& b) {
    return a.duration_ns > b.duration_ns;
  });
  if (list.size() > kListedRenderWork) list.resize(kListedRenderWork);
}

}  // namespace

std::vector<StackSample> SamplesOf(const RingWindow& window, int32_t tid) {
  std::vector<StackSample> samples;
  for (const WindowThread& thread : window.threads) {
    for (const WindowChunk& chunk : thread.chunks) {
      EventCursor cursor(chunk);
      EventRecord record;
      while (cursor.Next(&record)) {
        if (record.kind != EventKind::kStackSample) continue;
        StackSample sample;
        if (!DecodeSampleRecord(record.payload, &sample) || (tid != 0 && sample.tid != tid))
          continue;
        if (tid != 0 && sample.source == SampleSource::kCreation) continue;
        sample.time_ns = record.ticks;
        samples.push_back(sample);
      }
    }
  }
  CompactSort(&samples,
              [](const StackSample& a, const StackSample& b) { return a.time_ns < b.time_ns; });
  return samples;
}

Blame FindBlame(const RingWindow& window, int32_t tid, uint64_t from_ticks, uint64_t to_ticks,
                const std::vector<StackSample>& samples, const FrameTable& frames,
                const MethodNames& names, double ns_per_tick) {
  Blame blame;
  const CallTree tree = MethodTree(window, tid, from_ticks, to_ticks);
  ListMethods(tree, names, ns_per_tick, &blame);
  ListRenderWork(window, from_ticks, to_ticks, names, ns_per_tick, &blame);
  BlamedStack sampled = FindBlamedStack(
      samples, frames, static_cast<uint64_t>(static_cast<double>(kMostSampleNs) / ns_per_tick));
  blame.frames = BlamedMethods(tree, names);
  if (blame.frames.empty()) {
    blame.place = std::move(sampled.where);
    blame.own = std::move(sampled.own);
    blame.key_path = std::move(sampled.key_path);
  } else {
    // Only methods if there are any: a sampled leaf changes from run to run.
    blame.place = blame.frames.front().function;
    blame.own = blame.frames;
    for (const ReportFrame& method : blame.own) blame.key_path.push_back(method.function);
    std::reverse(blame.key_path.begin(), blame.key_path.end());
  }
  blame.frames.insert(blame.frames.end(), sampled.frames.begin(), sampled.frames.end());
  return blame;
}

}  // namespace jankbox
