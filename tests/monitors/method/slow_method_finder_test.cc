// The finder over rings that real threads record to, while they do so. Moments are the machine's;
// what must not be slow has a threshold of an hour.
#include "monitors/method/slow_method_finder.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <memory>
#include <thread>

#include "base/own_thread.h"
#include "monitors/looper/dispatch_monitor.h"
#include "tests/fakes/fake_ring.h"
#include "tests/fakes/fake_window.h"
#include "tests/fakes/latch.h"
#include "tracer/event/event_sink.h"
#include "tracer/event/wait_event.h"
#include "tracer/ring/record_modes.h"
#include "tracer/ring/recorder.h"

namespace jankbox {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

enum Method : uint32_t { kFirst = 1, kOuter, kSlow, kQuick, kRun };

constexpr uint64_t kThresholdNs = 5 * kNsPerMs;
constexpr uint64_t kHourNs = 3600 * kNsPerSecond;

void Begin(uint32_t id) { RecordEvent(EventKind::kBegin, id); }
void End(uint32_t id) { RecordEvent(EventKind::kEnd, id); }
void Pass() { usleep(2 * kThresholdNs / 1000); }
void Call(uint32_t id) {
  Begin(id);
  Pass();
  End(id);
}

class SlowMethodFinderTest : public testing::Test {
 protected:
  SlowMethodFinderTest() {
    EXPECT_TRUE(Recorder::Open(ring_->file()).ok());
    finder_.SetRules(kThresholdNs, /*all_threads=*/false);
    Begin(kFirst);  // so that what follows is not the thread's outermost call
  }
  ~SlowMethodFinderTest() override {
    Recorder::Close();
    static auto* closed = new std::vector<std::unique_ptr<FakeRing>>();  // stays mapped
    closed->push_back(std::move(ring_));
  }
  void Poll() { finder_.Poll(MonotonicNs(), FakeClock()); }
  // What was found by now, since this was called last.
  std::vector<SlowMethod> Found() {
    Poll();
    return finder_.TakeFound();
  }
  std::vector<uint32_t> FoundIds() {
    std::vector<uint32_t> ids;
    for (const SlowMethod& method : Found()) ids.push_back(method.call.id);
    return ids;
  }
  uint32_t Suspect() {
    const std::vector<SuspectMethod> suspects = finder_.Suspects();
    return suspects.size() == 1 ? suspects[0].call.id : 0;
  }
  uint64_t Serial() { return finder_.Suspects().at(0).thread_serial; }
  void WriteMode(RecordMode mode) {
    Recorder::SetMode(mode);
    NoteRecordMode(ring_->file(), mode, RecordModeReason::kOption, NowTicks());
  }

  std::unique_ptr<FakeRing> ring_ = std::make_unique<FakeRing>();
  const RingReader reader_{ring_->file()->base(), ring_->file()->bytes()};
  HoldHistory holds_;
  Refusals refusals_;
  SlowMethodFinder finder_{&reader_, &holds_, &refusals_};
};

TEST_F(SlowMethodFinderTest, CallThatBeganAndEndedBetweenTwoPollsIsFoundOnce) {
  Poll();
  const uint64_t before = MonotonicNs();
  Call(kSlow);
  const uint64_t after = MonotonicNs();
  const std::vector<SlowMethod> found = Found();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].call.id, kSlow);
  EXPECT_EQ(found[0].tid, CurrentTid());
  EXPECT_TRUE(found[0].watched);
  EXPECT_GE(found[0].call.begin_ticks, before);
  EXPECT_LE(found[0].call.end_ticks, after);
  EXPECT_GE(found[0].call.end_ticks - found[0].call.begin_ticks, 2 * kThresholdNs);
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(SlowMethodFinderTest, OpenCallIsSuspectUntilItIsFoundAtItsEnd) {
  Begin(kSlow);
  for (int i = 0; i < 3; ++i) {
    Pass();
    EXPECT_THAT(Found(), IsEmpty()) << "it has not ended";
    EXPECT_EQ(Suspect(), kSlow);
  }
  End(kSlow);
  EXPECT_THAT(FoundIds(), ElementsAre(kSlow));
  EXPECT_EQ(Suspect(), kFirst) << "as far as is known";
}

TEST_F(SlowMethodFinderTest, ShortCallIsNotFound) {
  finder_.SetRules(kHourNs, false);
  for (int i = 0; i < 100; ++i) Call(kQuick);
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(SlowMethodFinderTest, EventsAfterThePollAreOfTheNextOne) {
  Begin(kSlow);
  const uint64_t now_ns = MonotonicNs();
  Pass();
  End(kSlow);
  finder_.Poll(now_ns, FakeClock());
  EXPECT_THAT(finder_.TakeFound(), IsEmpty()) << "whether the process was stopped is not known";
  EXPECT_THAT(FoundIds(), ElementsAre(kSlow));
}

TEST_F(SlowMethodFinderTest, CallAroundManyChunksIsFoundWithItsOwnTimes) {
  finder_.SetRules(kHourNs, false);  // quick calls are, however the machine is
  Poll();
  const uint64_t before = MonotonicNs();
  Begin(kSlow);
  Pass();
  Poll();
  const uint64_t in_between = MonotonicNs();
  for (int i = 0; i < 20'000; ++i) {  // twenty chunks
    Begin(kQuick);
    End(kQuick);
  }
  Poll();
  EXPECT_EQ(Suspect(), kSlow) << "the newest chunk lists it";
  for (int i = 0; i < 10'000; ++i) {
    Begin(kQuick);
    End(kQuick);
  }
  const uint64_t last = MonotonicNs();
  End(kSlow);
  const uint64_t after = MonotonicNs();
  for (int i = 0; i < 10'000; ++i) {
    Begin(kQuick);
    End(kQuick);
  }
  finder_.SetRules(in_between - before, false);
  const std::vector<SlowMethod> found = Found();
  const auto slow = std::find_if(found.begin(), found.end(),
                                 [](const SlowMethod& one) { return one.call.id == kSlow; });
  ASSERT_NE(slow, found.end());
  EXPECT_GE(slow->call.begin_ticks, before);
  EXPECT_LE(slow->call.begin_ticks, in_between);
  EXPECT_GE(slow->call.end_ticks, last) << "it ended in a chunk that is neither first nor last";
  EXPECT_LE(slow->call.end_ticks, after);
}

TEST_F(SlowMethodFinderTest, CallWhoseEndWasOverwrittenLastedAtLeastUntilThePollThatSawIt) {
  Begin(kSlow);
  Pass();
  Poll();
  const uint64_t polled = MonotonicNs();
  End(kSlow);
  finder_.SetRules(kThresholdNs / 2, false);
  for (int i = 0; i < 200'000; ++i) RecordEvent(EventKind::kInstant, kQuick);
  const std::vector<SlowMethod> found = Found();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].call.id, kSlow);
  EXPECT_LE(found[0].call.end_ticks, polled);
}

// --- What is no slow method

TEST_F(SlowMethodFinderTest, CallInADispatchIsNotFound) {
  DispatchMonitor::Begin("message");
  Call(kSlow);
  Poll();
  DispatchMonitor::End();
  EXPECT_THAT(FoundIds(), IsEmpty());
  Call(kSlow);
  EXPECT_THAT(FoundIds(), ElementsAre(kSlow)) << "after it";
}

TEST_F(SlowMethodFinderTest, CallThatContainsADispatchIsNotFound) {
  Begin(kOuter);
  DispatchMonitor::Begin("message");
  DispatchMonitor::End();
  Pass();
  Poll();
  EXPECT_EQ(Suspect(), 0u);
  End(kOuter);
  EXPECT_THAT(FoundIds(), IsEmpty());
}

TEST_F(SlowMethodFinderTest, DispatchAmongSkippedChunksIsNoticed) {
  finder_.SetRules(kHourNs, false);
  DispatchMonitor::Begin("first");  // takes the slot
  DispatchMonitor::End();
  Begin(kOuter);
  Poll();
  const auto flood = [] {
    for (int i = 0; i < 10'000; ++i) {
      Begin(kQuick);
      End(kQuick);
    }
  };
  flood();
  DispatchMonitor::Begin("message");
  DispatchMonitor::End();
  flood();
  Poll();
  EXPECT_EQ(Suspect(), 0u);
}

TEST_F(SlowMethodFinderTest, CallThatContainsAFrameIsNotFound) {
  Begin(kOuter);
  const uint64_t payload[5] = {1, 1, 1, 1, 1};
  RecordEventAt(EventKind::kFrame, 0, UINT64_MAX, payload);
  Pass();
  End(kOuter);
  EXPECT_THAT(FoundIds(), IsEmpty());
}

TEST_F(SlowMethodFinderTest, CallInWhichAWatchedThreadWaitedForAConditionIsNotFound) {
  DispatchMonitor::Begin("first");
  DispatchMonitor::End();
  for (const auto& [what, found] :
       {std::pair(WaitClass::kCondition, 0u), std::pair(WaitClass::kSemaphore, 0u),
        std::pair(WaitClass::kMutex, 1u)}) {
    Poll();
    Begin(kSlow);
    RecordAside(EventKind::kWait, EncodeWait({.what = what}).id, {});
    Pass();
    RecordAside(EventKind::kWait, EncodeWait({.what = what, .end = true}).id, {});
    End(kSlow);
    EXPECT_THAT(FoundIds(), SizeIs(found)) << static_cast<int>(what);
  }
}

TEST_F(SlowMethodFinderTest, CallInWhichTheThreadWasSeenWaitingIsNotFound) {
  Begin(kSlow);
  Poll();
  finder_.RuleOut(Serial());
  EXPECT_EQ(Suspect(), 0u);
  Pass();
  End(kSlow);
  EXPECT_THAT(FoundIds(), IsEmpty());
}

TEST_F(SlowMethodFinderTest, ThreadThatWentOnSinceThePollIsNotRuledOut) {
  Begin(kSlow);
  Pass();
  Poll();
  End(kSlow);
  finder_.RuleOut(Serial());  // it waits after that call, not in it
  EXPECT_THAT(FoundIds(), ElementsAre(kSlow));
}

TEST_F(SlowMethodFinderTest, StoppedTimeIsSubtractedAndCounted) {
  const uint64_t before = MonotonicNs();
  Call(kSlow);
  holds_.Add({RefusalReason::kStopped, before, MonotonicNs(), 0});
  EXPECT_THAT(FoundIds(), IsEmpty());
  EXPECT_EQ(refusals_.count(RefusalReason::kStopped), 1u);
}

TEST_F(SlowMethodFinderTest, CallWhoseEndMayNotBeRecordedIsNotFound) {
  Begin(kOuter);
  Begin(kSlow);
  Poll();
  WriteMode(RecordMode::kOff);
  End(kSlow);
  Poll();
  WriteMode(RecordMode::kExact);
  Pass();
  End(kOuter);
  EXPECT_THAT(FoundIds(), IsEmpty());
  Call(kSlow);
  EXPECT_THAT(FoundIds(), ElementsAre(kSlow));
}

TEST_F(SlowMethodFinderTest, CallThatWasOpenWhenEventsWereDroppedIsNotFound) {
  Begin(kOuter);
  Poll();
  ring_->file()->AddDroppedEvents(1);
  Pass();
  Poll();
  End(kOuter);
  EXPECT_THAT(FoundIds(), IsEmpty());
}

// --- Threads

// Until the thread has ended.
template <typename Body>
void OnWorker(Body body) {
  std::thread worker(body);
  worker.join();
}

TEST_F(SlowMethodFinderTest, WorkersAreJudgedOnRequest) {
  const auto work = [] {
    Begin(kRun);
    Call(kSlow);
    Call(kOuter);
    End(kRun);
  };
  OnWorker(work);
  EXPECT_THAT(FoundIds(), IsEmpty());
  finder_.SetRules(kThresholdNs, /*all_threads=*/true);
  Poll();
  finder_.TakeFound();
  OnWorker(work);
  const std::vector<SlowMethod> found = Found();
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].call.id, kSlow);
  EXPECT_EQ(found[1].call.id, kOuter);
  EXPECT_FALSE(found[0].watched);
  EXPECT_NE(found[0].tid, CurrentTid());
}

TEST_F(SlowMethodFinderTest, MainFunctionOfAWorkerIsNotFound) {
  finder_.SetRules(kThresholdNs, true);
  OnWorker([] { Call(kRun); });
  for (int i = 0; i < 4; ++i) EXPECT_THAT(FoundIds(), IsEmpty());
}

TEST_F(SlowMethodFinderTest, FirstCallOfAWorkerThatGoesOnIsFound) {
  finder_.SetRules(kThresholdNs, true);
  Latch called, checked;
  std::thread worker([&] {
    Call(kSlow);
    called.Open();
    checked.Wait();
  });
  ASSERT_TRUE(called.Wait());
  for (int i = 0; i < 3; ++i) EXPECT_THAT(FoundIds(), IsEmpty()) << "the thread may end now";
  finder_.Poll(MonotonicNs() + kLongestEndNs, FakeClock());
  EXPECT_THAT(FoundIds(), ElementsAre(kSlow));
  checked.Open();
  worker.join();
  EXPECT_THAT(FoundIds(), IsEmpty());
}

TEST_F(SlowMethodFinderTest, CallThatAThreadLeavesByItsEndIsFound) {
  finder_.SetRules(kThresholdNs, true);
  OnWorker([] {
    Begin(kRun);
    Begin(kSlow);
    Pass();
  });
  EXPECT_THAT(FoundIds(), IsEmpty()) << "its chunk may have a successor";
  EXPECT_THAT(FoundIds(), ElementsAre(kSlow));
  EXPECT_THAT(FoundIds(), IsEmpty());
}

TEST_F(SlowMethodFinderTest, ThreadThatGetsASlotIsWatchedFromThenOn) {
  Latch found_nothing, called;
  Latch watched;
  std::thread worker([&] {
    Begin(kRun);
    Call(kQuick);
    called.Open();
    found_nothing.Wait();
    DispatchMonitor::Begin("first");
    DispatchMonitor::End();
    Call(kSlow);
    watched.Open();
    found_nothing.Wait(2);
  });
  ASSERT_TRUE(called.Wait());
  EXPECT_THAT(FoundIds(), IsEmpty());
  found_nothing.Open();
  ASSERT_TRUE(watched.Wait());
  const std::vector<SlowMethod> found = Found();
  found_nothing.Open();
  worker.join();
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.back().call.id, kSlow);
  EXPECT_TRUE(found.back().watched);
}

// --- On and off

TEST_F(SlowMethodFinderTest, NothingIsFoundWhileItIsOff) {
  finder_.SetRules(0, true);
  Call(kSlow);
  EXPECT_THAT(Found(), IsEmpty());
  EXPECT_THAT(finder_.Suspects(), IsEmpty());
  finder_.SetRules(kThresholdNs, true);
  EXPECT_THAT(Found(), IsEmpty()) << "it ended before";
  Call(kSlow);
  EXPECT_THAT(FoundIds(), ElementsAre(kSlow));
}

TEST_F(SlowMethodFinderTest, OpenCallIsNotFoundAtTheEnd) {
  Begin(kSlow);
  Pass();
  Poll();
  finder_.Finish(/*process_exits=*/false);
  EXPECT_THAT(finder_.TakeFound(), IsEmpty());
}

// The first call of the main thread.
class FirstCallTest : public testing::Test {
 protected:
  // What is found of it once recording ends.
  std::vector<SlowMethod> FoundAtTheEnd(bool process_exits) {
    static auto* rings = new std::vector<std::unique_ptr<FakeRing>>();  // stay mapped
    rings->push_back(std::make_unique<FakeRing>());
    const RingFile& ring = *rings->back()->file();
    EXPECT_TRUE(Recorder::Open(rings->back()->file()).ok());
    const RingReader reader(ring.base(), ring.bytes());
    const HoldHistory holds;
    Refusals refusals;
    SlowMethodFinder finder(&reader, &holds, &refusals);
    finder.SetRules(kThresholdNs, false);
    Call(kSlow);
    finder.Poll(MonotonicNs(), FakeClock());
    finder.Finish(process_exits);
    Recorder::Close();
    return finder.TakeFound();
  }
};

TEST_F(FirstCallTest, IsFoundIfTheProgramOnlyStopsJankbox) {
  EXPECT_THAT(FoundAtTheEnd(false), SizeIs(1));
}

TEST_F(FirstCallTest, IsMainItselfIfTheProcessExits) {
  EXPECT_THAT(FoundAtTheEnd(true), IsEmpty());
}

}  // namespace
}  // namespace jankbox
