#include "tracer/snapshot/sample_slices.h"

#include <algorithm>
#include <cstdio>

#include "tracer/unwind/shown_stack.h"

namespace jankbox {
namespace {

using perfetto::TrackEventType;

constexpr uint64_t kDefaultIntervalNs = 5 * kNsPerMs;
// A pause between samples that is so much longer than the one before it, and than most, means that
// no sample was taken: nothing is known about the time between.
constexpr uint64_t kMaxGapIntervals = 4;

std::string Hex(uint64_t value) {
  char text[24];
  snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace

uint64_t MedianIntervalNs(std::span<const SampleRef> samples) {
  if (samples.size() < 2) return kDefaultIntervalNs;
  std::vector<uint64_t> intervals;
  for (size_t i = 1; i < samples.size(); ++i) {
    intervals.push_back(samples[i].boottime_ns - samples[i - 1].boottime_ns);
  }
  auto middle = intervals.begin() + static_cast<ptrdiff_t>((intervals.size() - 1) / 2);
  std::nth_element(intervals.begin(), middle, intervals.end());
  return std::max<uint64_t>(*middle, 1);
}

std::string FrameText(const FrameTable* frames, uint64_t address) {
  if (frames == nullptr) return Hex(address);
  auto it = frames->find(address);
  if (it == frames->end()) return Hex(address);
  const ResolvedFrame& frame = it->second;
  if (!frame.function.empty()) return frame.function;
  return frame.module.empty() ? Hex(frame.rel_pc) : frame.module + "+" + Hex(frame.rel_pc);
}

uint64_t SampleSlices::Write(std::span<const SampleRef> samples, std::span<const SampleRun> runs) {
  const uint64_t interval_ns = MedianIntervalNs(samples);
  for (const SampleRun& run : runs) {
    WriteRun(samples.subspan(run.first, run.last - run.first), BoundsOf(run), interval_ns);
  }
  return slices_;
}

// Whole units strictly inside the run. If there are none the thread's track has no room.
SampleSlices::Bounds SampleSlices::BoundsOf(const SampleRun& run) const {
  const uint64_t from_units = run.from_ns / unit_ns_;
  const uint64_t to_units = run.to_ns / unit_ns_;
  if (run.on_thread_track && to_units > from_units + 1) {
    return {tracks_.thread_uuid, (from_units + 1) * unit_ns_, (to_units - 1) * unit_ns_};
  }
  return {tracks_.sampled_uuid, from_units * unit_ns_, to_units * unit_ns_};
}

void SampleSlices::WriteRun(std::span<const SampleRef> samples, const Bounds& bounds,
                            uint64_t interval_ns) {
  auto within = [&](uint64_t ns) { return std::clamp(ns, bounds.from_ns, bounds.to_ns); };
  if (!sequence_->started()) sequence_->Start(within(samples.front().boottime_ns));
  StackSample sample;
  std::vector<uint64_t> calls;
  for (size_t i = 0; i < samples.size(); ++i) {
    const uint64_t now = samples[i].boottime_ns;
    const uint64_t last = i > 0 ? samples[i - 1].boottime_ns : now;
    const uint64_t usual = i > 1 ? last - samples[i - 2].boottime_ns : 0;
    if (now - last > kMaxGapIntervals * std::max(usual, interval_ns)) {
      CloseDownTo(0, within(last + interval_ns), bounds);
    }
    if (!DecodeSampleRecord(samples[i].payload, &sample) || sample.depth == 0) continue;
    CallsOf(sample, &calls);
    OpenTo(calls, within(now), sample.truncated, bounds);
  }
  CloseDownTo(0, within(samples.back().boottime_ns + interval_ns), bounds);
}

// Outermost first.
void SampleSlices::CallsOf(const StackSample& sample, std::vector<uint64_t>* calls) {
  uint64_t pcs[StackSample::kMaxDepth];
  calls->clear();
  for (uint32_t i = ShownStack(sample, frames_, pcs); i > 0; --i) {
    calls->push_back(NameOf(pcs[i - 1]));
  }
}

uint64_t SampleSlices::NameOf(uint64_t address) {
  auto it = names_by_address_.find(address);
  if (it == names_by_address_.end()) {
    it = names_by_address_.emplace(address, names_->OfText(FrameText(frames_, address))).first;
  }
  return it->second;
}

void SampleSlices::OpenTo(const std::vector<uint64_t>& calls, uint64_t boottime_ns, bool truncated,
                          const Bounds& bounds) {
  static constexpr std::string_view kTruncated[] = {"stack_truncated"};
  size_t shared = 0;
  while (shared < open_.size() && shared < calls.size() && open_[shared] == calls[shared]) ++shared;
  CloseDownTo(shared, boottime_ns, bounds);
  for (size_t i = shared; i < calls.size(); ++i) {
    TrackEventFields event = {.type = TrackEventType::kSliceBegin,
                              .track_uuid = bounds.track_uuid,
                              .category = Category::kSampled,
                              .name_iid = calls[i]};
    if (i == 0 && truncated) event.annotations = kTruncated;
    sequence_->Write(boottime_ns, event);
    open_.push_back(calls[i]);
    ++slices_;
  }
}

void SampleSlices::CloseDownTo(size_t depth, uint64_t boottime_ns, const Bounds& bounds) {
  while (open_.size() > depth) {
    sequence_->Write(boottime_ns,
                     {.type = TrackEventType::kSliceEnd, .track_uuid = bounds.track_uuid});
    open_.pop_back();
  }
}

}  // namespace jankbox
