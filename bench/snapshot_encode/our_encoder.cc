#include "bench/snapshot_encode/our_encoder.h"

#include <algorithm>
#include <stdexcept>

#include "tracer/ring/ring_format.h"

namespace jankbox::bench {
namespace {

constexpr size_t kWordsPerChunk = (kChunkBytes - sizeof(RingChunk)) / sizeof(uint64_t);
// Ticks begin near 0 as on a machine that has just started; the trace's clock adds this again.
constexpr uint64_t kFirstTick = 1'000'000'000;

uint32_t MethodOf(const WorkloadEvent& event) { return event.name + 1; }

// Chunks as the ring's writer fills them: each starts with the open calls.
std::vector<WindowChunk> MakeChunks(const WorkloadThread& thread, uint64_t ticks_offset) {
  std::vector<WindowChunk> chunks;
  std::vector<OpenCall> open;
  size_t room = 0;
  for (const WorkloadEvent& event : thread.events) {
    const uint64_t ticks = event.timestamp_ns - ticks_offset;
    if (room == 0) {
      chunks.emplace_back();
      chunks.back().sequence = chunks.size();
      chunks.back().base_ticks = ticks;
      chunks.back().open_calls = open;
      room = kWordsPerChunk - open.size() * sizeof(RingOpenCall) / sizeof(uint64_t);
    }
    const EventKind kind = event.begin ? EventKind::kBegin : EventKind::kEnd;
    chunks.back().words.push_back(MakeEvent(kind, MethodOf(event), ticks));
    --room;
    if (event.begin) {
      open.push_back({MethodOf(event), EventKind::kBegin, ticks});
    } else if (!open.empty()) {
      open.pop_back();
    }
  }
  return chunks;
}

}  // namespace

OurEncoder::OurEncoder(const Workload& workload) : slices_(workload.slices()) {
  uint64_t first_ns = UINT64_MAX, last_ns = 0;
  for (const WorkloadThread& thread : workload.threads) {
    if (thread.events.empty()) continue;
    first_ns = std::min(first_ns, thread.events.front().timestamp_ns);
    last_ns = std::max(last_ns, thread.events.back().timestamp_ns);
  }
  const uint64_t offset_ns = first_ns - kFirstTick;
  for (const WorkloadThread& thread : workload.threads) {
    window_.threads.push_back({.tid = thread.tid,
                               .name = "thread-" + std::to_string(thread.tid),
                               .chunks = MakeChunks(thread, offset_ns)});
  }
  window_.to_ticks = last_ns - offset_ns;
  for (size_t i = 0; i < workload.names.size(); ++i) {
    names_.Set(static_cast<uint32_t>(i + 1), workload.names[i]);
  }
  const uint64_t now = window_.to_ticks;
  input_.window = &window_;
  input_.names = &names_;
  input_.clock_reading = {now, now, now + offset_ns, now + offset_ns};
  input_.clock = TickConverter({}, input_.clock_reading, 1.0);
  input_.process = {.pid = workload.pid, .name = "bench", .start_boottime_ns = offset_ns};
}

const std::string& OurEncoder::Encode(uint32_t time_unit_ns) {
  input_.time_unit_ns = time_unit_ns;
  out_.clear();
  const Result<SnapshotStats> stats = WriteSnapshot(input_, [this](std::string_view piece) {
    out_.append(piece);
    return Status::Ok();
  });
  if (!stats.ok()) throw std::runtime_error(stats.status().message());
  if (stats.value().slices != slices_ || stats.value().unmatched_ends != 0) {
    throw std::runtime_error("the snapshot does not hold all slices");
  }
  return out_;
}

}  // namespace jankbox::bench
