// The watcher thread over a ring in memory. The slots of the watched threads are the test's, with
// dispatches that began in the past, so that nothing is waited for but the watcher's next look.
#include "sdk/runtime/watcher.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <mutex>

#include "base/own_thread.h"
#include "jankbox/jankbox.h"
#include "monitors/frame/frame_monitor.h"
#include "sdk/api/foreground.h"
#include "sdk/runtime/run_channel.h"
#include "tests/fakes/fake_ring.h"
#include "tests/uploader/temporary_folder.h"
#include "tracer/event/event_sink.h"
#include "tracer/event/watcher_wake.h"
#include "tracer/ring/method_registry.h"
#include "tracer/ring/recorder.h"
#include "tracer/ring/ring_reader.h"
#include "tracer/ring/watched_slot.h"

namespace jankbox {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

uint64_t Soon() { return MonotonicNs() + 20 * kNsPerSecond; }
uint64_t Ago(uint64_t ms) { return MonotonicNs() - ms * kNsPerMs; }

class WatcherTest : public testing::Test {
 protected:
  WatcherTest() : crash_loop_(folder_.path(), "program") {
    options_.slow_message_ns = 700 * kNsPerMs;
    options_.lag_ns = 2 * kNsPerSecond;
    options_.anr_ns = 5 * kNsPerSecond;
    options_.anr_background_ns = 10 * kNsPerSecond;
    options_.cold_start_ns = options_.warm_start_ns = 3600 * kNsPerSecond;
    options_.jank_dropped_frames = 9;
    options_.sample_interval_ms = 5;
    options_.cpu_budget_permille = 0;
    options_.sampler_mode = StackSampler::Mode::kProcOnly;
    options_.markers = MarkerMode::kOff;
    options_.loop_hooks = false;
    FrameMonitor::Start({});
    g_in_front_since_ns.store(1, std::memory_order_relaxed);
    EXPECT_TRUE(Recorder::Open(ring_->file()).ok());
    watcher_ = std::make_unique<Watcher>(
        options_, ring_->file(), &crash_loop_, &kernel_, &refusals_,
        [this](SealRequest request) {
          std::lock_guard<std::mutex> lock(mutex_);
          sealed_.push_back(std::move(request));
        },
        [] { return Sleeper{}; });
  }
  ~WatcherTest() override {
    Stop();
    Recorder::Close();
    static auto* closed = new std::vector<std::unique_ptr<FakeRing>>();  // stays mapped
    closed->push_back(std::move(ring_));
  }
  void Start() {
    watcher_->Start();
    started_ = true;
    watcher_->WaitReady();
  }
  void Stop() {
    if (!started_) return;
    watcher_->AskToStop(/*process_exits=*/false);
    watcher_->AwaitEnd(UINT64_MAX);
    started_ = false;
  }
  void Look() { ASSERT_TRUE(watcher_->LookNow(Soon())); }
  // This thread's loop, as if it had begun a message some time ago.
  void Blocked(const char* what, uint64_t ms, size_t index = 0) {
    ring_->Watch(index, CurrentTid());
    ring_->BeginDispatch(index, what, Ago(ms));
  }
  std::vector<SealRequest> Sealed() {
    std::lock_guard<std::mutex> lock(mutex_);
    return sealed_;
  }

  TemporaryFolder folder_;
  Options options_;
  std::unique_ptr<FakeRing> ring_ = std::make_unique<FakeRing>();
  CrashLoop crash_loop_;  // which has not decided: nothing is hooked
  KernelRecorder kernel_{{.mode = FtraceMode::kOff}, TickSource::kClockGettime};
  Refusals refusals_;
  std::mutex mutex_;
  std::vector<SealRequest> sealed_;  // guarded by mutex_
  std::unique_ptr<Watcher> watcher_;
  bool started_ = false;
};

TEST_F(WatcherTest, ClockAndModulesAreKnownWhenItIsReady) {
  Start();
  EXPECT_NE(ring_->header()->calibrated_ticks.load(), 0u);
  const uint64_t now_ns = MonotonicNs();
  EXPECT_NEAR(static_cast<double>(watcher_->clock().ToMonotonicNs(now_ns)),
              static_cast<double>(now_ns), 1e6);
  EXPECT_FALSE(watcher_->modules().Serialize().empty());
  const RingReader reader(ring_->file()->base(), ring_->file()->bytes());
  EXPECT_FALSE(reader.ModulesText().empty()) << "recovery names stacks with them";
}

TEST_F(WatcherTest, SleepsWhileNothingHappensAndIsWokenByWhatDoes) {
  MethodRegistry::Get().Attach(ring_->file());
  Start();
  const WatchedSlot slot = WatchedSlot::OfThisThread(ring_->header());
  const auto until = [](auto is_so) {
    const uint64_t deadline_ns = Soon();
    while (!is_so() && MonotonicNs() < deadline_ns) usleep(1000);
    return is_so();
  };
  const std::atomic<uint64_t>& looked = ring_->header()->heartbeat_ticks;
  // Four times as long as it is while anything may go on.
  const auto rests = [&] {
    return WatcherWake::asleep() && NowTicks() - looked.load() > 200 * kNsPerMs;
  };
  const std::function<void()> activities[] = {
      [&] { slot.BeginDispatch(PaddedName("tick"), NowTicks()), slot.EndDispatch(); },
      [&] { slot.CountFrame(); },
      [] { jankbox_set_foreground(0); },
      [] { MethodRegistry::Get().IdOfName("first"); },
  };
  for (const auto& begins : activities) {
    ASSERT_TRUE(until(rests));
    const uint64_t before = looked.load();
    begins();
    EXPECT_TRUE(until([&] { return looked.load() != before; }));
  }
  MethodRegistry::Get().Detach();
}

TEST_F(WatcherTest, HeartbeatIsKept) {
  Start();
  Look();
  const uint64_t before = ring_->header()->heartbeat_ticks.load();
  EXPECT_NE(before, 0u);
  Look();
  EXPECT_GT(ring_->header()->heartbeat_ticks.load(), before);
}

TEST_F(WatcherTest, LookThatIsTooLateIsNoLook) {
  Start();
  EXPECT_FALSE(watcher_->LookNow(MonotonicNs() - 1));
}

TEST_F(WatcherTest, SlowMessageIsSealedAfterItsEnd) {
  Start();
  Blocked("Feed.bind", 1000);
  Look();
  EXPECT_THAT(Sealed(), IsEmpty());
  EXPECT_EQ(ring_->header()->incidents[0].state.load(),
            static_cast<uint32_t>(RingIncidentState::kGrowing));
  ring_->EndDispatch(0, MonotonicNs());
  Look();
  const std::vector<SealRequest> sealed = Sealed();
  ASSERT_THAT(sealed, SizeIs(1));
  EXPECT_EQ(sealed[0].what, "Feed.bind");
  EXPECT_EQ(sealed[0].kind, ReportKind::kSlowMessage);
  EXPECT_EQ(sealed[0].tid, CurrentTid());
  EXPECT_GE(sealed[0].end_ns - sealed[0].begin_ns, 1000 * kNsPerMs);
}

TEST_F(WatcherTest, AnrIsSealedWhileItLastsWithTheThreadsOfTheProcess) {
  Start();
  Blocked("stuck", 6000);
  Look();
  const std::vector<SealRequest> sealed = Sealed();
  ASSERT_THAT(sealed, SizeIs(1));
  EXPECT_EQ(sealed[0].kind, ReportKind::kAnr);
  EXPECT_TRUE(sealed[0].ongoing);
  ASSERT_NE(sealed[0].threads, nullptr);
  ASSERT_FALSE(sealed[0].threads->threads.empty());
  EXPECT_EQ(sealed[0].threads->threads[0].told.tid, CurrentTid());
}

TEST_F(WatcherTest, EachSlotIsWatchedByItself) {
  Start();
  Blocked("one", 1000, 0);
  Blocked("two", 1000, 5);
  Look();
  ring_->EndDispatch(5, MonotonicNs());
  Look();
  std::vector<SealRequest> sealed = Sealed();
  ASSERT_THAT(sealed, SizeIs(1));
  EXPECT_EQ(sealed[0].what, "two");
  EXPECT_EQ(sealed[0].watched_index, 5u);
  ring_->EndDispatch(0, MonotonicNs());
  Look();
  sealed = Sealed();
  ASSERT_THAT(sealed, SizeIs(2));
  EXPECT_NE(sealed[1].id, sealed[0].id);
}

TEST_F(WatcherTest, StopSealsWhatIsGrowing) {
  Start();
  Blocked("unfinished", 1000);
  Look();
  EXPECT_THAT(Sealed(), IsEmpty());
  Stop();
  const std::vector<SealRequest> sealed = Sealed();
  ASSERT_THAT(sealed, SizeIs(1));
  EXPECT_EQ(sealed[0].what, "unfinished");
  EXPECT_FALSE(sealed[0].ongoing);
}

TEST_F(WatcherTest, StopOfAnIdleAppSealsNothing) {
  Start();
  ring_->Watch(0, CurrentTid());
  Look();
  Stop();
  EXPECT_THAT(Sealed(), IsEmpty());
}

TEST_F(WatcherTest, ThresholdsHoldFromTheNextLookOn) {
  Start();
  Blocked("short", 300);
  Look();
  EXPECT_EQ(ring_->header()->incidents[0].state.load(),
            static_cast<uint32_t>(RingIncidentState::kNone));
  jankbox_options given = {};
  given.size = sizeof(given);
  given.slow_message_ms = 100;
  ASSERT_TRUE(watcher_->ChangeThresholds(given).ok());
  Look();
  EXPECT_EQ(ring_->header()->slow_threshold_ns, 100 * kNsPerMs) << "the threads compare with it";
  EXPECT_EQ(ring_->header()->incidents[0].state.load(),
            static_cast<uint32_t>(RingIncidentState::kGrowing));
}

TEST_F(WatcherTest, ThresholdThatIsOutOfRangeChangesNothing) {
  Start();
  jankbox_options given = {};
  given.size = sizeof(given);
  given.slow_message_ms = 1;  // below its least
  given.lag_ms = 3000;
  EXPECT_EQ(watcher_->ChangeThresholds(given).code(), StatusCode::kInvalidArgument);
  Look();
  EXPECT_NE(ring_->header()->slow_threshold_ns, 1 * kNsPerMs);
  Blocked("lag of 2.5 s", 2500);
  Look();
  ring_->EndDispatch(0, MonotonicNs());
  Look();
  const std::vector<SealRequest> sealed = Sealed();
  ASSERT_THAT(sealed, SizeIs(1));
  EXPECT_EQ(sealed[0].kind, ReportKind::kLag) << "the limit of 2 s holds";
}

TEST_F(WatcherTest, ThresholdsMayChangeBeforeTheStart) {
  jankbox_options given = {};
  given.size = sizeof(given);
  given.slow_message_ms = 100;
  EXPECT_TRUE(watcher_->ChangeThresholds(given).ok());
  Start();
  Look();
  EXPECT_EQ(ring_->header()->slow_threshold_ns, 100 * kNsPerMs);
}

TEST_F(WatcherTest, SlowStartIsSealed) {
  jankbox_options given = {};
  given.size = sizeof(given);
  given.cold_start_ms = 100;
  ASSERT_TRUE(watcher_->ChangeThresholds(given).ok());
  Start();
  ring_->Watch(0, CurrentTid());
  const uint64_t frame_ns = ring_->header()->clock_at_start.monotonic_ns + 200 * kNsPerMs;
  FrameMonitor::OnFrame(WatchedSlot(ring_->header(), 0), {.vsync_ns = frame_ns - 10 * kNsPerMs,
                                                          .interval_ns = 16'666'667,
                                                          .start_ns = frame_ns - 10 * kNsPerMs,
                                                          .end_ns = frame_ns});
  while (MonotonicNs() < frame_ns) Look();  // a frame that has not ended yet waits for its look
  Look();
  const std::vector<SealRequest> sealed = Sealed();
  ASSERT_THAT(sealed, SizeIs(1));
  EXPECT_EQ(sealed[0].kind, ReportKind::kStartup);
  EXPECT_EQ(sealed[0].end_ns, frame_ns);
}

// Calls that this thread records itself, outside of any dispatch.
class WatchedCallsTest : public WatcherTest {
 protected:
  WatchedCallsTest() {
    jankbox_options given = {};
    given.size = sizeof(given);
    given.slow_method_ms = 20;
    EXPECT_TRUE(watcher_->ChangeThresholds(given).ok());
  }
  static void Call(uint32_t id, useconds_t us) {
    RecordEvent(EventKind::kBegin, id);
    usleep(us);
    RecordEvent(EventKind::kEnd, id);
  }
};

TEST_F(WatchedCallsTest, SlowMethodIsSealedOnce) {
  Start();
  Look();
  Call(1, 0);
  Call(2, 40'000);
  Look();
  Look();
  const std::vector<SealRequest> sealed = Sealed();
  ASSERT_FALSE(sealed.empty());  // the machine may be slow in the first one
  EXPECT_EQ(sealed.back().kind, ReportKind::kSlowMethod);
  ASSERT_TRUE(sealed.back().method);
  EXPECT_EQ(sealed.back().method->id, 2u);
  EXPECT_GE(sealed.back().end_ns - sealed.back().begin_ns, 40 * kNsPerMs);
  EXPECT_EQ(sealed.back().tid, CurrentTid());
  EXPECT_EQ(std::count_if(sealed.begin(), sealed.end(),
                          [](const SealRequest& request) { return request.method->id == 2; }),
            1);
}

TEST_F(WatchedCallsTest, SlowMethodThatHasJustEndedIsSealedByTheStop) {
  Start();
  Look();
  Call(1, 0);
  Call(2, 40'000);
  Stop();
  const std::vector<SealRequest> sealed = Sealed();
  ASSERT_FALSE(sealed.empty());
  EXPECT_EQ(sealed.back().method->id, 2u);
}

TEST_F(WatchedCallsTest, LateFrameAroundASlowMethodIsTheSameIncident) {
  ring_->Watch(0, CurrentTid());
  Start();
  Look();
  Call(1, 0);
  const uint64_t begin_ns = MonotonicNs();
  Call(2, 300'000);
  const uint64_t end_ns = MonotonicNs();
  FrameMonitor::OnFrame(
      WatchedSlot(ring_->header(), 0),
      {.vsync_ns = begin_ns, .interval_ns = 16'666'667, .start_ns = begin_ns, .end_ns = end_ns});
  Look();
  Look();
  for (const SealRequest& request : Sealed()) EXPECT_EQ(request.kind, ReportKind::kSlowMethod);
  EXPECT_EQ(Sealed().back().method->id, 2u);
}

TEST_F(WatcherTest, ItsOwnCostIsKnownAlsoAfterItsEnd) {
  Start();
  Look();
  EXPECT_GT(watcher_->cpu_ns(), 0u);
  Stop();
  const uint64_t cost_ns = watcher_->cpu_ns();
  EXPECT_GT(cost_ns, 0u);
  EXPECT_EQ(watcher_->cpu_ns(), cost_ns);
}

TEST_F(WatcherTest, WithoutAnAtraceLibraryThereIsNothingToTell) {
  Start();
  EXPECT_EQ(watcher_->atrace().state, "");
  watcher_->StopAtrace();
  EXPECT_EQ(watcher_->sigquits(), 0u);
}

TEST(WatchedText, TabOfANameEndsNoField) {
  EXPECT_EQ(WatchedText(7, "a\tb", {.index = 1, .thread = "t", .loop = "poll", .messages = 3}),
            "7\t1\t0\t3\tpoll\tt\ta b");
}

}  // namespace
}  // namespace jankbox
