// Windows for the snapshot's tests: events written into chunks as the ring's writer does, and a
// snapshot of them read back by the strict reader. Ticks are ns of MONOTONIC; BOOTTIME is
// kBoottimeOffsetNs later, so that mixing the two up shows.
#ifndef JANKBOX_TESTS_TRACER_SNAPSHOT_TEST_WINDOW_H_
#define JANKBOX_TESTS_TRACER_SNAPSHOT_TEST_WINDOW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/perfetto/trace_reader.h"
#include "tracer/snapshot/snapshot.h"
#include "tracer/unwind/stack_sample.h"

namespace jankbox::testing {

inline constexpr uint64_t kBoottimeOffsetNs = 3'000'000'000;
inline constexpr int32_t kTestPid = 4321;

struct TestEvent {
  EventKind kind = EventKind::kNone;
  uint32_t id = 0;
  uint64_t ticks = 0;
  std::vector<uint64_t> payload = {};  // raw data, 60 bits each
};

TestEvent Begin(uint32_t id, uint64_t ticks);
TestEvent End(uint32_t id, uint64_t ticks);
TestEvent DispatchBegin(const std::string& name, uint64_t ticks);
TestEvent DispatchEnd(uint64_t ticks);
TestEvent Value(EventKind kind, uint32_t id, uint64_t value, uint64_t ticks);
TestEvent Sample(const StackSample& sample, uint64_t ticks);

// The words of `event` in a chunk whose deltas count from `base_ticks`.
std::vector<uint64_t> Words(const TestEvent& event);

// A chunk with these events; its base is the first event's moment unless given.
WindowChunk MakeChunk(const std::vector<TestEvent>& events, uint64_t base_ticks = 0,
                      const std::vector<OpenCall>& open_calls = {});

WindowThread MakeThread(int32_t tid, std::vector<WindowChunk> chunks);
RingWindow MakeWindow(uint64_t from_ticks, uint64_t to_ticks, std::vector<WindowThread> threads);

// Methods 1-9 are called "m1" to "m9".
MethodNames TestNames();

// An input over `window` and `names`, both of which must outlive it.
SnapshotInput MakeInput(const RingWindow& window, const MethodNames& names);

struct TestSnapshot {
  SnapshotStats stats;
  std::string file;
  TraceContent trace;
};

// Writes and reads back; a failure of either fails the test.
TestSnapshot Snapshot(const SnapshotInput& input);
TestSnapshot Snapshot(const RingWindow& window);

// "ts+dur depth name [flags]", one line a slice, in ticks: what most tests compare.
std::string Describe(const ReadSlice& slice);
std::vector<std::string> Describe(const std::vector<ReadSlice>& slices, int32_t tid);

}  // namespace jankbox::testing

#endif  // JANKBOX_TESTS_TRACER_SNAPSHOT_TEST_WINDOW_H_
