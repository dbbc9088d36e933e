// A ring's window written by hand: each thread records what the test says, at the ticks that the
// test says. Ticks are nanoseconds for FakeClock().
#ifndef JANKBOX_TESTS_FAKES_FAKE_WINDOW_H_
#define JANKBOX_TESTS_FAKES_FAKE_WINDOW_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "tracer/clock/tick_clock.h"
#include "tracer/event/thread_event.h"
#include "tracer/event/wait_event.h"
#include "tracer/ring/ring_window.h"
#include "tracer/unwind/stack_sample.h"

namespace jankbox {

// A tick is a nanosecond of CLOCK_MONOTONIC; BOOTTIME is `boottime_offset_ns` ahead.
TickConverter FakeClock(uint64_t boottime_offset_ns = 0);
// Each tick is `ns_per_tick` nanoseconds, both from 0.
TickConverter ScaledClock(double ns_per_tick);

// A sample of thread `tid` whose innermost call is `pcs`' first.
StackSample FakeSample(int32_t tid, std::initializer_list<uint64_t> pcs);

// Writes into one thread of a window.
class FakeThread {
 public:
  FakeThread(RingWindow* window, size_t index) : window_(window), index_(index) {}

  // What follows is in a new chunk, of calls and of markers; with a gap, events before it are lost.
  FakeThread& NewChunk(uint64_t base_ticks, bool gap = false);
  // Calls that were open when the last chunk began.
  FakeThread& Open(uint32_t method, uint64_t begin_ticks);

  FakeThread& Begin(uint32_t method, uint64_t ticks);
  FakeThread& End(uint32_t method, uint64_t ticks);
  FakeThread& BeginDispatch(std::string_view name, uint64_t ticks);
  FakeThread& EndDispatch(uint64_t ticks);
  FakeThread& Sample(const StackSample& sample, uint64_t ticks);
  FakeThread& Wait(const WaitEvent& wait, uint64_t ticks);
  FakeThread& Thread(const ThreadEvent& event, uint64_t ticks);
  FakeThread& Marker(std::string_view text, uint64_t ticks);

  WindowThread& thread() { return window_->threads[index_]; }

 private:
  FakeThread& Push(EventKind kind, uint32_t id, uint64_t ticks);
  ChunkWords& Words() { return thread().chunks.back().words; }
  ChunkWords& Asides() { return thread().markers.back().words; }

  RingWindow* window_;
  size_t index_;
};

// Adds a thread to `window`, with one chunk in each lane.
FakeThread AddThread(RingWindow* window, int32_t tid, const std::string& name);

// `text` as payload words, seven bytes each.
void PushText(std::string_view text, ChunkWords* words);

}  // namespace jankbox

#endif  // JANKBOX_TESTS_FAKES_FAKE_WINDOW_H_
