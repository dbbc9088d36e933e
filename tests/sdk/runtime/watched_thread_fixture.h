// The fixture of the watched thread's tests: one thread in slot 0 of a ring in memory, whose time
// and /proc are the test's, and the requests that are sealed for it.
#ifndef JANKBOX_TESTS_SDK_RUNTIME_WATCHED_THREAD_FIXTURE_H_
#define JANKBOX_TESTS_SDK_RUNTIME_WATCHED_THREAD_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "monitors/frame/frame_book.h"
#include "monitors/frame/frame_monitor.h"
#include "sdk/api/foreground.h"
#include "sdk/runtime/watched_thread.h"
#include "tests/fakes/fake_ring.h"
#include "tests/fakes/fake_thread_source.h"
#include "tests/fakes/fake_window.h"

namespace jankbox {

inline constexpr int32_t kUi = 4711;
inline constexpr uint64_t kStart = 1000 * kNsPerSecond;

// Moments are milliseconds since the test began.
inline constexpr uint64_t At(uint64_t ms) { return kStart + ms * kNsPerMs; }

class WatchedThreadTest : public testing::Test {
 protected:
  WatchedThreadTest() {
    options_.slow_message_ns = 700 * kNsPerMs;
    options_.lag_ns = 2 * kNsPerSecond;
    options_.anr_ns = 5 * kNsPerSecond;
    options_.anr_background_ns = 10 * kNsPerSecond;
    options_.sample_interval_ms = 5;
    FrameMonitor::Start({.sealed_band = 9, .policy = FramePolicy::kBands});
    FrameBook::Get().Clear();
    g_in_front_since_ns.store(1, std::memory_order_relaxed);
    ring_.Watch(0, kUi);
    state_.reading.wait = WaitReason::kBlocked;
    state_.reading.state = 'S';
  }
  ~WatchedThreadTest() override { g_in_front_since_ns.store(1, std::memory_order_relaxed); }

  WatchedThread& Thread() {
    if (thread_ == nullptr) {
      thread_ = std::make_unique<WatchedThread>(
          options_, ring_.file(), 0, &refusals_,
          [this](SealRequest request) { sealed_.push_back(std::move(request)); },
          std::make_unique<FakeThreadSource>(&state_));
    }
    return *thread_;
  }
  void Look(uint64_t ms, bool asked_by_signal = false) {
    Thread().Look(At(ms), FakeClock(), asked_by_signal);
  }
  // Every 50 ms up to and with `to_ms`.
  void LookUntil(uint64_t to_ms) {
    for (; next_ms_ <= to_ms; next_ms_ += 50) Look(next_ms_);
  }
  void Begin(const char* name, uint64_t ms) { ring_.BeginDispatch(0, name, At(ms)); }
  void End(uint64_t ms) { ring_.EndDispatch(0, At(ms)); }
  void Hold(RefusalReason reason, uint64_t from_ms, uint64_t to_ms) {
    const jankbox::Hold hold{reason, At(from_ms), At(to_ms), 0};
    Thread().NoteHolds({&hold, 1});
  }
  void Frame(uint64_t from_ms, uint64_t to_ms) {
    FrameMonitor::OnFrame(WatchedSlot(ring_.header(), 0), {.vsync_ns = At(from_ms),
                                                           .interval_ns = 16'666'667,
                                                           .start_ns = At(from_ms),
                                                           .end_ns = At(to_ms)});
  }
  const RingIncident& Note() { return ring_.header()->incidents[0]; }
  RingIncidentState NoteState() { return static_cast<RingIncidentState>(Note().state.load()); }
  const FakeSamplerState& Sampler(int32_t tid = kUi) { return *state_.sampler_of.at(tid); }

  FakeRing ring_;
  FakeThreadState state_;
  Refusals refusals_;
  Options options_;
  std::vector<SealRequest> sealed_;
  std::unique_ptr<WatchedThread> thread_;
  uint64_t next_ms_ = 50;
};

}  // namespace jankbox

#endif  // JANKBOX_TESTS_SDK_RUNTIME_WATCHED_THREAD_FIXTURE_H_
