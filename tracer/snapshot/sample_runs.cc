#include "tracer/snapshot/sample_runs.h"

#include <utility>

namespace jankbox {

// Ends the run that began at the last cut, with the samples before `samples_end_ns`; what was
// innermost is its dispatch.
void SampleRunFinder::CutAt(uint64_t boottime_ns, uint64_t samples_end_ns) {
  const size_t first = next_sample_;
  while (next_sample_ < samples_.size() && samples_[next_sample_].boottime_ns < samples_end_ns) {
    ++next_sample_;
  }
  if (next_sample_ > first) {
    runs_.push_back(
        {.first = first, .last = next_sample_, .from_ns = last_cut_ns_, .to_ns = boottime_ns});
    run_dispatches_.push_back(open_.empty() ? kNoDispatch : open_.back().index);
  }
  last_cut_ns_ = boottime_ns;
}

void SampleRunFinder::Begin(const EventRecord& call, uint64_t ticks, uint32_t) {
  if (call.kind != EventKind::kDispatchBegin) {
    if (!open_.empty()) open_.back().has_methods = true;
    return;
  }
  const uint64_t boottime_ns = clock_.BoottimeNs(ticks);
  CutAt(boottime_ns, boottime_ns);
  open_.push_back({.index = has_methods_.size()});
  has_methods_.push_back(false);
}

void SampleRunFinder::End(const EventRecord& call, uint64_t ticks, uint32_t notes) {
  if (call.kind != EventKind::kDispatchBegin) return;
  const uint64_t boottime_ns = clock_.BoottimeNs(ticks);
  // The last moment of the window still belongs to a dispatch that goes on after it.
  CutAt(boottime_ns, (notes & kOpenAtWindowEnd) != 0 ? boottime_ns + 1 : boottime_ns);
  const OpenDispatch dispatch = open_.back();
  open_.pop_back();
  has_methods_[dispatch.index] = dispatch.has_methods;
  if (dispatch.has_methods && !open_.empty()) open_.back().has_methods = true;
}

std::vector<SampleRun> SampleRunFinder::TakeRuns() {
  CutAt(clock_.end_ns(), UINT64_MAX);
  for (size_t i = 0; i < runs_.size(); ++i) {
    const size_t dispatch = run_dispatches_[i];
    runs_[i].on_thread_track = dispatch != kNoDispatch && !has_methods_[dispatch];
  }
  return std::move(runs_);
}

}  // namespace jankbox
