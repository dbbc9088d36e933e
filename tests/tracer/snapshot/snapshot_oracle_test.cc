// Random histories against an independent model; random and damaged words against the strict
// reader.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/tracer/snapshot/call_model.h"
#include "tests/tracer/snapshot/test_window.h"

namespace jankbox::testing {
namespace {

constexpr int32_t kFirstTid = 100;

// A part of the time that `chunks` cover, and a little before and after it.
RingWindow RandomWindow(const std::vector<TestEvent>& events, std::mt19937* random) {
  const uint64_t first = events.front().ticks;
  const uint64_t length = events.back().ticks - first;
  const uint64_t from = first - 50 + (*random)() % (length / 2);
  return MakeWindow(from, from + length / 4 + (*random)() % length, {});
}

TEST(SnapshotOracle, WindowsOfIntactHistoriesShowTheTruth) {
  for (uint32_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const CallHistory first = RandomCalls(&random, 900, 100'000, false);
    RingWindow window = RandomWindow(first.events, &random);
    std::vector<std::vector<std::string>> expected;
    for (int32_t i = 0; i < 3; ++i) {
      const CallHistory history =
          i == 0 ? first : RandomCalls(&random, 300 + 300 * static_cast<size_t>(i), 100'000, false);
      std::vector<WindowChunk> chunks = CutIntoChunks(history.events, &random);
      LoseChunks(&chunks, false, &random);
      expected.push_back(ExpectedFromTruth(history, chunks, window));
      window.threads.push_back(MakeThread(kFirstTid + i, std::move(chunks)));
    }
    const TestSnapshot snapshot = Snapshot(window);
    for (int32_t i = 0; i < 3; ++i) {
      ASSERT_EQ(Describe(snapshot.trace.slices, kFirstTid + i), expected[static_cast<size_t>(i)]);
    }
    ASSERT_EQ(snapshot.stats.unmatched_ends, 0u);
    ASSERT_EQ(snapshot.stats.slices, snapshot.trace.slices.size());
  }
}

TEST(SnapshotOracle, DamagedHistoriesWithGapsShowWhatTheModelSays) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const CallHistory history = RandomCalls(&random, 1200, 100'000, true);
    std::vector<WindowChunk> chunks = CutIntoChunks(history.events, &random);
    LoseChunks(&chunks, true, &random);
    RingWindow window = RandomWindow(history.events, &random);
    const ModelResult expected = ExpectedFromChunks(chunks, window);
    window.threads.push_back(MakeThread(kFirstTid, std::move(chunks)));
    const TestSnapshot snapshot = Snapshot(window);
    ASSERT_EQ(Describe(snapshot.trace.slices, kFirstTid), expected.slices);
    ASSERT_EQ(snapshot.stats.unmatched_ends, expected.unmatched_ends);
    ASSERT_EQ(snapshot.stats.open_slices, expected.open_slices);
  }
}

// Any word at all, more often one that could be an event.
uint64_t RandomWord(std::mt19937_64* random) {
  const uint64_t raw = (*random)();
  switch ((*random)() % 4) {
    case 0:
      return raw;
    case 1:
      return MakePayload(raw >> 40);
    default:
      return MakeEvent(static_cast<EventKind>(1 + (*random)() % 15), raw % 70, (raw >> 40) % 5000);
  }
}

// Markers of all kinds in any order, carried ones and damage among them.
WindowChunk RandomMarkers(std::mt19937_64* random) {
  static const char* const kTexts[] = {"B|1|a",   "B|1|b",    "E|1",     "E",         "I|1|i",
                                       "S|1|s|1", "F|1|s|1",  "C|1|c|7", "G|1|t|g|2", "H|1|t|2",
                                       "N|1|t|n", "nonsense", ""};
  WindowChunk chunk;
  chunk.base_ticks = (*random)() % 5000;
  chunk.gap_before = (*random)() % 2 == 0;
  for (uint64_t n = (*random)() % 60; n > 0; --n) {
    TestEvent event = DispatchBegin(kTexts[(*random)() % std::size(kTexts)], (*random)() % 9000);
    event.kind = (*random)() % 8 == 0 ? EventKind::kWait : EventKind::kMarker;
    if (event.kind == EventKind::kWait)
      event.id =
          static_cast<uint32_t>(event.payload.size()) | static_cast<uint32_t>((*random)() & 16);
    if (event.kind == EventKind::kMarker && (*random)() % 8 == 0) {
      event.id |= kCarriedMarker;
      event.payload.insert(event.payload.begin(), {(*random)() % 9000, 0});
    }
    for (uint64_t word : Words(event)) chunk.words.push_back(word);
    if ((*random)() % 64 == 0) chunk.words.push_back(RandomWord(random));
  }
  return chunk;
}

TEST(SnapshotOracle, AnyWordsMakeAValidTrace) {
  const MethodNames names = TestNames();
  for (uint32_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    RingWindow window = MakeWindow(random() % 4000, random() % 9000, {});
    for (int32_t i = 0; i < 3; ++i) {
      WindowThread thread = MakeThread(static_cast<int32_t>(random() % 3) - 1, {});
      for (uint64_t c = random() % 5; c > 0; --c) {
        WindowChunk chunk;
        chunk.base_ticks = random() % 8 == 0 ? random() : random() % 5000;
        chunk.gap_before = random() % 2 == 0;
        chunk.open_calls_truncated = random() % 4 == 0 ? static_cast<uint32_t>(random()) : 0;
        for (uint64_t o = random() % 4; o > 0; --o) {
          chunk.open_calls.push_back({static_cast<uint32_t>(random() % 12),
                                      static_cast<EventKind>(random() % 16),
                                      random() % 3 == 0 ? random() : random() % 5000});
        }
        for (uint64_t w = random() % 300; w > 0; --w) chunk.words.push_back(RandomWord(&random));
        thread.chunks.push_back(chunk);
      }
      for (uint64_t c = random() % 4; c > 0; --c) thread.markers.push_back(RandomMarkers(&random));
      window.threads.push_back(thread);
    }
    SnapshotInput input = MakeInput(window, names);
    input.time_unit_ns = random() % 2 == 0 ? 1 : 128;
    const TestSnapshot snapshot = Snapshot(input);
    ASSERT_FALSE(::testing::Test::HasFailure());
    ASSERT_EQ(snapshot.stats.slices, snapshot.trace.slices.size());
    ASSERT_EQ(snapshot.stats.samples, snapshot.trace.samples.size());
  }
}

TEST(SnapshotOracle, DeepStackWithUnmatchedEndsStaysFast) {
  std::vector<TestEvent> events;
  for (uint64_t i = 0; i < 50'000; ++i) events.push_back(Begin(1, 1000 + i));
  for (uint64_t i = 0; i < 50'000; ++i) events.push_back(End(2, 300'000 + i));
  const TestSnapshot snapshot =
      Snapshot(MakeWindow(1000, 400'000, {MakeThread(kFirstTid, {MakeChunk(events)})}));
  EXPECT_EQ(snapshot.stats.unmatched_ends, 50'000u);
  EXPECT_EQ(snapshot.stats.open_slices, 50'000u);
}

}  // namespace
}  // namespace jankbox::testing
