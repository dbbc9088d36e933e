#include "tests/fakes/fake_window.h"

#include <algorithm>

#include "tracer/sampling/sample_event.h"

namespace jankbox {

TickConverter FakeClock(uint64_t boottime_offset_ns) {
  const ClockReading first{0, 0, boottime_offset_ns, 0};
  const ClockReading last{kNsPerSecond, kNsPerSecond, kNsPerSecond + boottime_offset_ns,
                          kNsPerSecond};
  return TickConverter(first, last, 1.0);
}

TickConverter ScaledClock(double ns_per_tick) { return TickConverter({}, {}, ns_per_tick); }

StackSample FakeSample(int32_t tid, std::initializer_list<uint64_t> pcs) {
  StackSample sample;
  sample.tid = tid;
  sample.source = SampleSource::kPerf;
  sample.running = true;
  sample.state = 'R';
  sample.depth = static_cast<uint32_t>(pcs.size());
  std::copy(pcs.begin(), pcs.end(), sample.pcs);
  return sample;
}

void PushText(std::string_view text, ChunkWords* words) {
  for (size_t i = 0; i < text.size(); i += 7) {
    uint64_t word = 0;
    for (size_t k = i; k < std::min(text.size(), i + 7); ++k) {
      word |= uint64_t{static_cast<uint8_t>(text[k])} << (8 * (k - i));
    }
    words->push_back(MakePayload(word));
  }
}

FakeThread AddThread(RingWindow* window, int32_t tid, const std::string& name) {
  WindowThread& thread = window->threads.emplace_back();
  thread.tid = tid;
  thread.serial = window->threads.size();
  thread.name = name;
  FakeThread fake(window, window->threads.size() - 1);
  fake.NewChunk(window->from_ticks);
  return fake;
}

FakeThread& FakeThread::NewChunk(uint64_t base_ticks, bool gap) {
  for (auto* lane : {&thread().chunks, &thread().markers}) {
    WindowChunk& chunk = lane->emplace_back();
    chunk.sequence = lane->size();
    chunk.base_ticks = base_ticks;
    chunk.gap_before = gap;
  }
  return *this;
}

FakeThread& FakeThread::Open(uint32_t method, uint64_t begin_ticks) {
  thread().chunks.back().open_calls.push_back({method, EventKind::kBegin, begin_ticks});
  return *this;
}

FakeThread& FakeThread::Push(EventKind kind, uint32_t id, uint64_t ticks) {
  Words().push_back(MakeEvent(kind, id, ticks));
  return *this;
}

FakeThread& FakeThread::Begin(uint32_t method, uint64_t ticks) {
  return Push(EventKind::kBegin, method, ticks);
}

FakeThread& FakeThread::End(uint32_t method, uint64_t ticks) {
  return Push(EventKind::kEnd, method, ticks);
}

FakeThread& FakeThread::BeginDispatch(std::string_view name, uint64_t ticks) {
  Push(EventKind::kDispatchBegin, static_cast<uint32_t>(name.size()), ticks);
  PushText(name, &Words());
  return *this;
}

FakeThread& FakeThread::EndDispatch(uint64_t ticks) {
  return Push(EventKind::kDispatchEnd, 0, ticks);
}

FakeThread& FakeThread::Sample(const StackSample& sample, uint64_t ticks) {
  uint64_t payload[kMaxSamplePayloadWords];
  const uint32_t count = EncodeSample(sample, payload);
  Push(EventKind::kStackSample, count, ticks);
  for (uint32_t i = 0; i < count; ++i) Words().push_back(MakePayload(payload[i]));
  return *this;
}

FakeThread& FakeThread::Wait(const WaitEvent& wait, uint64_t ticks) {
  const EncodedWait encoded = EncodeWait(wait);
  Asides().push_back(MakeEvent(EventKind::kWait, encoded.id, ticks));
  if (encoded.words != 0) Asides().push_back(MakePayload(encoded.payload));
  return *this;
}

FakeThread& FakeThread::Thread(const ThreadEvent& event, uint64_t ticks) {
  const EncodedThreadEvent encoded = EncodeThreadEvent(event);
  Asides().push_back(MakeEvent(EventKind::kThread, encoded.id, ticks));
  for (uint32_t i = 0; i < encoded.words; ++i) Asides().push_back(MakePayload(encoded.payload[i]));
  return *this;
}

FakeThread& FakeThread::Marker(std::string_view text, uint64_t ticks) {
  Asides().push_back(MakeEvent(EventKind::kMarker, static_cast<uint32_t>(text.size()), ticks));
  PushText(text, &Asides());
  return *this;
}

}  // namespace jankbox
