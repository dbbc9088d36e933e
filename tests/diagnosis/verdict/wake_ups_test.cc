#include "diagnosis/verdict/wake_ups.h"

#include <gmock/gmock.h>
#include <sys/syscall.h>

#include "tests/fakes/fake_window.h"

namespace jankbox {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int32_t kUi = 7;
constexpr int32_t kDecoder = 42;
constexpr int32_t kLoader = 43;
constexpr uint64_t kMs = kNsPerMs;
constexpr uint64_t kBoottimeOffset = 5 * kNsPerSecond;
constexpr int64_t kSleeping = 1;

class WakeUpsTest : public testing::Test {
 protected:
  WakeUpsTest() {
    window_.to_ticks = 2000 * kMs;
    window_.threads.reserve(4);
    ui_.emplace(AddThread(&window_, kUi, "main"));
    decoder_.emplace(AddThread(&window_, kDecoder, "decoder"));
    loader_.emplace(AddThread(&window_, kLoader, "loader"));
    request_.tid = kUi;
    request_.kind = ReportKind::kSlowMessage;
    request_.begin_ns = 500 * kMs;
    request_.end_ns = 1500 * kMs;
    methods_.Set(1, "Decoder::Run");
    methods_.Set(2, "Decoder::Finish");
  }

  void UseFtrace() {
    kernel_.emplace();
    kernel_->source = KernelWindow::Source::kFtrace;
    kernel_->from_ns = kBoottimeOffset;
    kernel_->to_ns = kBoottimeOffset + 2000 * kMs;
    kernel_->own_threads = {kUi, kDecoder, kLoader};
  }
  // Thread kUi leaves the CPU, and is back as soon as another thread has woken it.
  void Waits(uint64_t from_ms, uint64_t to_ms, int32_t waker, bool in_interrupt = false) {
    KernelEvent event;
    event.kind = KernelEventKind::kSwitch;
    event.time = kBoottimeOffset + from_ms * kMs;
    event.tid = kUi;
    event.sched.prev_pid = kUi;
    event.sched.prev_state = kSleeping;
    kernel_->events.push_back(event);
    event = {};
    event.kind = KernelEventKind::kWaking;
    event.time = kBoottimeOffset + to_ms * kMs;
    event.tid = waker;
    event.in_interrupt = in_interrupt;
    event.wake = {};
    event.wake.pid = kUi;
    kernel_->events.push_back(event);
    event = {};
    event.kind = KernelEventKind::kSwitch;
    event.time = kBoottimeOffset + to_ms * kMs;
    event.sched.next_pid = kUi;
    kernel_->events.push_back(event);
  }
  void Call(WaitClass what, uint64_t from_ms, uint64_t to_ms, int32_t owner_tid = 0) {
    ui_->Wait({.what = what, .owner_tid = owner_tid}, from_ms * kMs);
    ui_->Wait({.what = what, .end = true}, to_ms * kMs);
  }
  void Reads(uint64_t at_ms, WaitReason wait, int32_t owner_tid = 0) {
    ThreadReading reading;
    reading.sched_known = true;
    reading.wait = wait;
    reading.lock_owner_tid = owner_tid;
    reading.syscall = wait == WaitReason::kLock ? SYS_futex : -1;
    reading.switches = wait == WaitReason::kLock ? 3 : 4 + at_ms;
    request_.readings.Add(at_ms * kMs, reading);
  }

  std::vector<WakeUp> Find() {
    lives_.emplace(window_, ThreadNames{});
    VerdictWindow source;
    source.window = &window_;
    source.kernel = kernel_ ? &*kernel_ : nullptr;
    source.clock = FakeClock(kBoottimeOffset);
    source.lives = &*lives_;
    source.frames = &frames_;
    source.methods = &methods_;
    return FindWakeUps(source, request_);
  }
  std::vector<std::string> Notes() {
    return WakeUpNotes(Find(), request_.end_ns - request_.begin_ns);
  }

  RingWindow window_;
  std::optional<FakeThread> ui_, decoder_, loader_;
  SealRequest request_;
  std::optional<KernelWindow> kernel_;
  FrameTable frames_;
  MethodNames methods_;
  std::optional<ThreadLives> lives_;
};

TEST_F(WakeUpsTest, KernelSaysWhoWokeTheThreadAndItsInnermostCallIsNamed) {
  UseFtrace();
  Waits(600, 1012, kDecoder);
  decoder_->Begin(1, 100 * kMs).Begin(2, 1011 * kMs).End(2, 1013 * kMs).End(1, 1400 * kMs);
  EXPECT_THAT(Notes(),
              ElementsAre("The longest wait, 412 ms, ended when thread decoder [42] woke it, in "
                          "Decoder::Finish."));
}

TEST_F(WakeUpsTest, CallThatEndedMomentsBeforeCountsAndAnOlderOneDoesNot) {
  UseFtrace();
  Waits(600, 1000, kDecoder);
  decoder_->Begin(2, 990 * kMs).End(2, 996 * kMs);
  EXPECT_EQ(Find().at(0).function, "Decoder::Finish");
  decoder_->thread().chunks.clear();
  decoder_->NewChunk(0).Begin(2, 990 * kMs).End(2, 994 * kMs);
  EXPECT_EQ(Find().at(0).function, "");
}

TEST_F(WakeUpsTest, SampleOfTheLastMomentsIsTakenIfNoCallIsRecorded) {
  UseFtrace();
  Waits(600, 1000, kDecoder);
  Waits(1100, 1200, kLoader);
  frames_[0x1000].function = "FinishPicture";
  frames_[0x1000].module = "app";
  decoder_->Sample(FakeSample(kDecoder, {0x1000}), 997 * kMs);
  decoder_->Sample(FakeSample(kLoader, {0x1000}), 1194 * kMs);
  const std::vector<WakeUp> found = Find();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].function, "FinishPicture");
  EXPECT_EQ(found[1].function, "") << "6 ms before";
}

TEST_F(WakeUpsTest, WaitThatAnInterruptEndedHidesNoShorterOneInTheNote) {
  UseFtrace();
  Waits(600, 1000, kDecoder, /*in_interrupt=*/true);
  Waits(1100, 1400, kDecoder);
  EXPECT_THAT(Notes(), IsEmpty()) << "who ended the longest one is unknown";
  const std::vector<WakeUp> found = Find();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].waker_tid, 0);
  EXPECT_EQ(found[1].waker_tid, kDecoder) << "an arrow";
}

TEST_F(WakeUpsTest, WaitThatEndsAtAnEdgeWithinTheErrorOfTheClockIsOnTheSideOnWhichItBegan) {
  UseFtrace();
  Waits(100, 503, kLoader);
  Waits(600, 1502, kDecoder);
  Waits(1503, 1504, kLoader);
  EXPECT_THAT(Notes(), ElementsAre("The longest wait, 403 ms, ended when thread loader [43] woke "
                                   "it."))
      << "with exact clocks";
  kernel_->clock_error_ns = 5 * kMs;
  EXPECT_THAT(Notes(),
              ElementsAre("Thread loader [43] woke the loop for this message.",
                          "The longest wait, 902 ms, ended when thread decoder [42] woke it."));
}

TEST_F(WakeUpsTest, WaitThatTookLessThanAFifthHasNoNote) {
  UseFtrace();
  Waits(600, 799, kDecoder);
  EXPECT_THAT(Notes(), IsEmpty());
  EXPECT_EQ(Find().size(), 1u);
}

TEST_F(WakeUpsTest, LongestWaitsAreKeptInOrderOfTime) {
  UseFtrace();
  for (uint64_t i = 0; i < 60; ++i) Waits(600 + 10 * i, 600 + 10 * i + 2 + i % 2, kDecoder);
  const std::vector<WakeUp> found = Find();
  EXPECT_EQ(found.size(), 32u);
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end(), [](const WakeUp& a, const WakeUp& b) {
    return a.woken_ns < b.woken_ns;
  }));
  EXPECT_EQ(
      std::count_if(found.begin(), found.end(),
                    [](const WakeUp& wait) { return wait.woken_ns - wait.from_ns == 3 * kMs; }),
      30);
}

TEST_F(WakeUpsTest, LoopsOwnWaitSaysWhoPostedTheMessage) {
  UseFtrace();
  Waits(100, 499, kLoader);
  EXPECT_THAT(Notes(), ElementsAre("Thread loader [43] woke the loop for this message."));
  EXPECT_TRUE(Find().at(0).starts);
  request_.kind = ReportKind::kJank;
  EXPECT_THAT(Notes(), IsEmpty()) << "a frame is no message";
}

TEST_F(WakeUpsTest, MessageThatBeganLongAfterTheLoopWokeUpWasNotWhatItWokeUpFor) {
  UseFtrace();
  Waits(100, 400, kLoader);
  EXPECT_THAT(Notes(), IsEmpty());
}

TEST_F(WakeUpsTest, WithoutTheKernelTheOwnerOfTheLockEndedTheWait) {
  Call(WaitClass::kMutex, 600, 1012, kDecoder);
  decoder_->Begin(2, 1000 * kMs);
  EXPECT_THAT(Notes(),
              ElementsAre("The longest wait, 412 ms, ended when thread decoder [42], which held "
                          "the lock, released it, in Decoder::Finish."));
}

TEST_F(WakeUpsTest, LastOwnerThatAReadingSawCounts) {
  Call(WaitClass::kMutex, 600, 1012, kDecoder);
  Reads(700, WaitReason::kLock, kDecoder);
  Reads(800, WaitReason::kLock, kLoader);
  EXPECT_EQ(Find().at(0).waker_tid, kLoader);
}

TEST_F(WakeUpsTest, ReadingsSayTheOwnerIfNoCallIsRecorded) {
  Reads(550, WaitReason::kNone);
  Reads(600, WaitReason::kLock, kDecoder);
  Reads(800, WaitReason::kLock, kDecoder);
  Reads(900, WaitReason::kNone);
  EXPECT_THAT(Notes(),
              ElementsAre("The longest wait, 300 ms, ended when thread decoder [42], which "
                          "held the lock, released it."));
}

TEST_F(WakeUpsTest, JoinedThreadEnded) {
  Call(WaitClass::kJoin, 600, 1000, kDecoder);
  EXPECT_THAT(Notes(),
              ElementsAre("The longest wait, 400 ms, ended when thread decoder [42] ended."));
}

TEST_F(WakeUpsTest, OfAConditionNobodyIsKnown) {
  Call(WaitClass::kCondition, 600, 1400);
  Call(WaitClass::kMutex, 1405, 1495, kDecoder);
  EXPECT_THAT(Notes(), IsEmpty());
}

TEST_F(WakeUpsTest, WaitThatOutlivesTheIncidentWasNotEnded) {
  ui_->Wait({.what = WaitClass::kMutex, .owner_tid = kDecoder}, 600 * kMs);
  EXPECT_THAT(Find(), IsEmpty());
}

TEST_F(WakeUpsTest, WriterToTheLoopsDescriptorPostedTheMessage) {
  const ThreadEvent woken = {
      .step = ThreadStep::kWoken, .tid = kUi, .ticks = 498 * kMs, .waker_tid = kLoader};
  loader_->Begin(2, 497 * kMs).End(2, 499 * kMs);
  ui_->Thread(woken, 501 * kMs);
  EXPECT_THAT(Notes(), ElementsAre("Thread loader [43] woke the loop for this message, in "
                                   "Decoder::Finish."));
  const WakeUp found = Find().at(0);
  EXPECT_EQ(found.by_ns, 498 * kMs);
  EXPECT_EQ(found.woken_ns, 501 * kMs);
}

TEST_F(WakeUpsTest, WriteToTheLoopsDescriptorForAnEarlierMessageDoesNotCount) {
  ui_->Thread({.step = ThreadStep::kWoken, .tid = kUi, .ticks = 480 * kMs, .waker_tid = kLoader},
              490 * kMs);
  EXPECT_THAT(Find(), IsEmpty());
}

TEST_F(WakeUpsTest, ArrowsGoFromTheThreadsOfTheProcess) {
  UseFtrace();
  Waits(600, 700, kDecoder);
  Waits(800, 900, kDecoder, /*in_interrupt=*/true);
  decoder_->Begin(2, 650 * kMs);
  const std::vector<SnapshotWakeUp> drawn =
      TraceWakeUps(Find(), kUi, "main", FakeClock(kBoottimeOffset));
  ASSERT_EQ(drawn.size(), 1u);
  EXPECT_EQ(drawn[0].waker_tid, kDecoder);
  EXPECT_EQ(drawn[0].woken_tid, kUi);
  EXPECT_EQ(drawn[0].by_ns, kBoottimeOffset + 700 * kMs);
  EXPECT_EQ(drawn[0].woken_ns, kBoottimeOffset + 700 * kMs);
  EXPECT_EQ(drawn[0].waker_text, "wakes main [7], in Decoder::Finish");
  EXPECT_EQ(drawn[0].woken_text, "woken by decoder [42], in Decoder::Finish");
}

}  // namespace
}  // namespace jankbox
