#include "tests/tracer/snapshot/test_window.h"

#include <gtest/gtest.h>

#include "tracer/sampling/sample_event.h"

namespace jankbox::testing {

TestEvent Begin(uint32_t id, uint64_t ticks) { return {EventKind::kBegin, id, ticks}; }
TestEvent End(uint32_t id, uint64_t ticks) { return {EventKind::kEnd, id, ticks}; }

TestEvent DispatchBegin(const std::string& name, uint64_t ticks) {
  TestEvent event = {EventKind::kDispatchBegin, static_cast<uint32_t>(name.size()), ticks};
  for (size_t i = 0; i < name.size(); ++i) {
    if (i % 7 == 0) event.payload.push_back(0);
    event.payload.back() |= uint64_t{static_cast<uint8_t>(name[i])} << (8 * (i % 7));
  }
  return event;
}

TestEvent DispatchEnd(uint64_t ticks) { return {EventKind::kDispatchEnd, 0, ticks}; }

TestEvent Value(EventKind kind, uint32_t id, uint64_t value, uint64_t ticks) {
  return {kind, id, ticks, {value & kPayloadMask, value >> 60}};
}

TestEvent Sample(const StackSample& sample, uint64_t ticks) {
  uint64_t words[kMaxSamplePayloadWords];
  const uint32_t count = EncodeSample(sample, words);
  return {EventKind::kStackSample, count, ticks, {words, words + count}};
}

std::vector<uint64_t> Words(const TestEvent& event) {
  std::vector<uint64_t> words = {MakeEvent(event.kind, event.id, event.ticks)};
  for (uint64_t raw : event.payload) words.push_back(MakePayload(raw));
  return words;
}

WindowChunk MakeChunk(const std::vector<TestEvent>& events, uint64_t base_ticks,
                      const std::vector<OpenCall>& open_calls) {
  WindowChunk chunk;
  chunk.base_ticks = base_ticks != 0 || events.empty() ? base_ticks : events.front().ticks;
  chunk.open_calls = open_calls;
  for (const TestEvent& event : events) {
    for (uint64_t word : Words(event)) chunk.words.push_back(word);
  }
  return chunk;
}

WindowThread MakeThread(int32_t tid, std::vector<WindowChunk> chunks) {
  return {.tid = tid, .name = "thread-" + std::to_string(tid), .chunks = std::move(chunks)};
}

RingWindow MakeWindow(uint64_t from_ticks, uint64_t to_ticks, std::vector<WindowThread> threads) {
  RingWindow window;
  window.from_ticks = from_ticks;
  window.to_ticks = to_ticks;
  window.threads = std::move(threads);
  return window;
}

MethodNames TestNames() {
  MethodNames names;
  for (uint32_t id = 1; id < 10; ++id) names.Set(id, "m" + std::to_string(id));
  return names;
}

SnapshotInput MakeInput(const RingWindow& window, const MethodNames& names) {
  const uint64_t now = window.to_ticks;
  SnapshotInput input;
  input.window = &window;
  input.names = &names;
  input.clock_reading = {now, now, now + kBoottimeOffsetNs, now + 1'700'000'000'000'000'000};
  input.clock = TickConverter({}, input.clock_reading, 1.0);
  input.process = {.pid = kTestPid, .name = "com.example", .start_boottime_ns = 77};
  return input;
}

TestSnapshot Snapshot(const SnapshotInput& input) {
  TestSnapshot snapshot;
  Result<SnapshotStats> stats = WriteSnapshot(input, [&](std::string_view piece) {
    EXPECT_LE(piece.size(), 64u << 10);
    snapshot.file += piece;
    return Status::Ok();
  });
  if (!stats.ok()) {
    ADD_FAILURE() << stats.status().message();
    return snapshot;
  }
  snapshot.stats = stats.value();
  std::string error;
  snapshot.trace = ReadTrace(snapshot.file, &error);
  EXPECT_EQ(error, "");
  return snapshot;
}

TestSnapshot Snapshot(const RingWindow& window) {
  const MethodNames names = TestNames();
  return Snapshot(MakeInput(window, names));
}

std::string Describe(const ReadSlice& slice) {
  std::string text = std::to_string(slice.ts - kBoottimeOffsetNs) + "+" +
                     std::to_string(slice.dur) + " " + std::to_string(slice.depth) + " " +
                     slice.name;
  for (const std::string& flag : slice.flags) text += " " + flag;
  return text;
}

std::vector<std::string> Describe(const std::vector<ReadSlice>& slices, int32_t tid) {
  std::vector<std::string> lines;
  for (const ReadSlice& slice : slices) {
    if (slice.tid == tid) lines.push_back(Describe(slice));
  }
  return lines;
}

}  // namespace jankbox::testing
