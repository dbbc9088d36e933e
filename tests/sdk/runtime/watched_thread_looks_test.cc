// When a watched thread is looked at, sampled and recorded, what of it goes with its incidents, and
// random messages.
#include <gmock/gmock.h>

#include <map>
#include <random>
#include <string>

#include "monitors/looper/dispatch_monitor.h"
#include "monitors/looper/input_latency.h"
#include "tests/sdk/runtime/watched_thread_fixture.h"
#include "tracer/ring/recorder.h"
#include "tracer/ring/ring_reader.h"

namespace jankbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(WatchedThreadTest, SamplesAreTakenFromHalfTheThresholdOn) {
  state_.reading.wait = WaitReason::kNone;
  Begin("a", 1000);
  LookUntil(1300);
  EXPECT_FALSE(Sampler().running);
  EXPECT_EQ(Sampler().options.interval_ms, 5u);
  LookUntil(1350);
  EXPECT_TRUE(Sampler().running);
  EXPECT_EQ(Sampler().collects, 0u) << "one that runs is sampled from now on";
  LookUntil(1450);
  EXPECT_EQ(Sampler().starts, 1u);
  EXPECT_EQ(Sampler().collects, 2u);
  End(1460);
  LookUntil(1500);
  EXPECT_FALSE(Sampler().running);
  EXPECT_EQ(Sampler().stops, 1u);
  EXPECT_EQ(Sampler().collects, 3u) << "what came before the stop is collected";
}

TEST_F(WatchedThreadTest, ThreadThatWaitsIsSampledAtHalfTheThresholdAtOnce) {
  Begin("a", 1000);
  LookUntil(1300);
  EXPECT_EQ(Sampler().collects, 0u);
  LookUntil(1350);
  EXPECT_EQ(Sampler().starts, 1u);
  EXPECT_EQ(Sampler().collects, 1u);
}

TEST_F(WatchedThreadTest, PeerOfAWaitIsAskedForOnceAndGoesWithTheIncident) {
  state_.reading.syscall = 7;
  state_.reading.sched_known = true;
  state_.peers.peer = {.kind = WaitPeer::Kind::kXServer, .pid = 5, .process = "Xorg"};
  Begin("draw", 100);
  LookUntil(400);
  EXPECT_EQ(state_.peers_asked, 0u) << "it is not overdue";
  LookUntil(700);
  EXPECT_EQ(state_.peers_asked, 1u) << "it has not run since";
  state_.reading.switches = 9;
  state_.peers.peer.pid = 6;
  LookUntil(850);
  EXPECT_EQ(state_.peers_asked, 2u);
  state_.reading.wait = WaitReason::kSleeping;
  LookUntil(900);
  EXPECT_EQ(state_.peers_asked, 2u) << "nobody ends a sleep";
  End(910);
  LookUntil(1000);
  ASSERT_THAT(sealed_, SizeIs(1));
  std::vector<int32_t> pids;
  for (const VerdictTimeline::Point& point : sealed_[0].readings.points()) {
    const WaitPeer* peer = sealed_[0].readings.PeerOf(point.reading);
    if (peer != nullptr && (pids.empty() || pids.back() != peer->pid)) pids.push_back(peer->pid);
  }
  EXPECT_THAT(pids, ElementsAre(5, 6));
}

TEST_F(WatchedThreadTest, PeerThatIsFoundAfterTheWaitIsDropped) {
  state_.reading.sched_known = true;
  state_.peers.peer = {.kind = WaitPeer::Kind::kXServer, .pid = 5};
  state_.peers.servers[0] = state_.peers.peer;
  state_.runs_meanwhile = true;
  Begin("draw", 100);
  LookUntil(850);
  End(860);
  LookUntil(1000);
  EXPECT_GT(state_.peers_asked, 1u) << "each wait is asked about";
  ASSERT_THAT(sealed_, SizeIs(1));
  EXPECT_EQ(sealed_[0].readings.LastPeer(WaitPeer::Kind::kXServer, UINT64_MAX), 0);
  state_.runs_meanwhile = false;
  Begin("draw", 2000);
  LookUntil(2850);
  End(2860);
  LookUntil(3000);
  ASSERT_THAT(sealed_, SizeIs(2));
  EXPECT_NE(sealed_[1].readings.LastPeer(WaitPeer::Kind::kXServer, UINT64_MAX), 0);
}

TEST_F(WatchedThreadTest, PeersOfAnEarlierMessageAreForgotten) {
  state_.reading.sched_known = true;
  state_.peers.peer = {.kind = WaitPeer::Kind::kXServer, .pid = 5};
  Begin("draw", 100);
  LookUntil(850);
  End(860);
  LookUntil(2000);
  state_.peers.peer = {};
  Begin("think", 2050);
  LookUntil(2800);
  End(2810);
  LookUntil(2900);
  ASSERT_THAT(sealed_, SizeIs(2));
  for (const VerdictTimeline::Point& point : sealed_[1].readings.points()) {
    EXPECT_EQ(sealed_[1].readings.PeerOf(point.reading), nullptr);
  }
  EXPECT_EQ(sealed_[1].readings.LastPeer(WaitPeer::Kind::kXServer, UINT64_MAX), 0);
}

TEST_F(WatchedThreadTest, ThreadThatShowsFramesIsSampledSooner) {
  Frame(10, 20);
  Begin("doFrame", 1000);
  Look(1070);
  EXPECT_FALSE(Sampler().running);
  Look(1090);  // half of ten intervals
  EXPECT_TRUE(Sampler().running);
}

TEST_F(WatchedThreadTest, LostSamplesAreThoseOfTheIncident) {
  Look(50);
  Begin("a", 100);
  state_.sampler_of.at(kUi)->counters.lost = 7;  // before anything of this message was looked at
  LookUntil(500);
  state_.sampler_of.at(kUi)->counters.lost = 10;
  state_.sampler_of.at(kUi)->notes = "perf is refused";
  LookUntil(850);
  End(860);
  LookUntil(900);
  ASSERT_THAT(sealed_, SizeIs(1));
  EXPECT_EQ(sealed_[0].lost_samples, 3u);
  EXPECT_THAT(sealed_[0].notes, ElementsAre("perf is refused"));
}

TEST_F(WatchedThreadTest, WithoutASamplerIncidentsAreSealedAllTheSame) {
  state_.samplers = false;
  Begin("a", 100);
  LookUntil(900);
  End(910);
  LookUntil(1000);
  ASSERT_THAT(sealed_, SizeIs(1));
  EXPECT_EQ(sealed_[0].sampler, "");
}

TEST_F(WatchedThreadTest, NextLookComesWhenSomethingMayBeDue) {
  Look(50);
  EXPECT_EQ(Thread().NextLookNs(At(50)), 50 * kNsPerMs) << "idle";
  Begin("a", 60);
  Look(100);
  EXPECT_EQ(Thread().NextLookNs(At(100)), 50 * kNsPerMs);
  Look(390);
  EXPECT_EQ(Thread().NextLookNs(At(390)), 20 * kNsPerMs) << "overdue at 410";
  Look(410);
  EXPECT_EQ(Thread().NextLookNs(At(410)), 5 * kNsPerMs) << "sampling";
  Look(10'070);
  EXPECT_EQ(Thread().NextLookNs(At(10'070)), 160 * kNsPerMs) << "for 10 s";
}

TEST_F(WatchedThreadTest, LongDispatchHasAboutThreeHundredSamples) {
  const auto looks = [this](uint64_t until_ms) {
    uint64_t count = 0;
    for (uint64_t at_ms = 450; at_ms < until_ms; ++count) {
      Look(at_ms);
      at_ms += Thread().NextLookNs(At(at_ms)) / kNsPerMs;
      ++state_.reading.run_ns;
    }
    return count;
  };
  Look(50);
  Begin("a", 60);
  const uint64_t in_8_s = looks(8060);
  EXPECT_GT(in_8_s, 200u);
  EXPECT_LT(in_8_s, 300u);
  EXPECT_EQ(Sampler().times, 16u);
}

TEST_F(WatchedThreadTest, SparedThreadIsSampledLaterAndLessOften) {
  options_.slow_message_ns = 10 * kNsPerMs;
  state_.reading.wait = WaitReason::kNone;
  Thread().Spare(true);
  Begin("a", 1000);
  Look(1010);
  EXPECT_FALSE(Sampler().running);
  EXPECT_EQ(Thread().NextLookNs(At(1010)), 40 * kNsPerMs);
  Look(1050);
  EXPECT_TRUE(Sampler().running);
  EXPECT_EQ(Sampler().times, 16u);
  Thread().Spare(false);
  Look(1060);
  EXPECT_EQ(Sampler().times, 1u);
}

TEST_F(WatchedThreadTest, ThreadThatStaysBlockedIsLookedAtLessAndLess) {
  state_.reading.sched_known = true;
  Begin("a", 60);
  LookUntil(400);
  Look(410);
  EXPECT_EQ(Thread().NextLookNs(At(410)), 360 * kNsPerMs / 8) << "blocked since 50";
  LookUntil(2400);
  EXPECT_EQ(Thread().NextLookNs(At(2400)), 200 * kNsPerMs);
  ++state_.reading.switches;
  Look(2450);
  EXPECT_EQ(Thread().NextLookNs(At(2450)), 40 * kNsPerMs) << "it ran, for 2 s so far";
  state_.reading.lock_owner_tid = 77;
  LookUntil(4000);
  EXPECT_EQ(Thread().NextLookNs(At(4000)), 20 * kNsPerMs) << "the owner may run";
}

TEST_F(WatchedThreadTest, HeldTimePutsTheNextLookOff) {
  Begin("a", 100);
  Look(200);
  Hold(RefusalReason::kStopped, 200, 440);
  Look(440);
  EXPECT_FALSE(Sampler().running) << "100 ms of its own";
  EXPECT_EQ(Thread().NextLookNs(At(660)), 30 * kNsPerMs) << "overdue at 690";
}

TEST_F(WatchedThreadTest, ThreadThatHoldsTheLockIsSampledToo) {
  Begin("a", 1000);
  state_.reading.wait = WaitReason::kLock;
  state_.reading.lock_owner_tid = 77;
  LookUntil(1300);
  EXPECT_EQ(state_.sampler_of.count(77), 0u) << "not overdue yet";
  LookUntil(1500);
  ASSERT_EQ(state_.sampler_of.count(77), 1u);
  EXPECT_EQ(Sampler(77).starts, 1u);
  EXPECT_EQ(Sampler(77).options.mode, StackSampler::Mode::kNoSignal);
  EXPECT_EQ(Sampler(77).collects, 4u);
  state_.reading.wait = WaitReason::kNone;
  state_.reading.lock_owner_tid = 0;
  LookUntil(1600);
  EXPECT_EQ(Sampler(77).collects, 4u);
}

TEST_F(WatchedThreadTest, ReadingsOfTheIncidentTravelWithIt) {
  state_.reading.wait = WaitReason::kSleeping;
  Begin("a", 1000);
  LookUntil(1900);
  End(1910);
  LookUntil(1950);
  ASSERT_THAT(sealed_, SizeIs(1));
  const auto& points = sealed_[0].readings.points();
  ASSERT_FALSE(points.empty());
  EXPECT_LE(points.front().time_ns, At(1000)) << "a baseline from before the dispatch";
  EXPECT_EQ(points.back().time_ns, At(1900)) << "it waits since then as it was seen to";
  EXPECT_EQ(points.back().reading.wait, WaitReason::kSleeping);
}

TEST_F(WatchedThreadTest, IdleThreadIsReadOnce) {
  LookUntil(500);
  EXPECT_EQ(state_.reads, 1u) << "nothing began since: it waits as it did";
  Begin("a", 510);
  End(520);
  LookUntil(550);
  EXPECT_EQ(state_.reads, 2u);
  LookUntil(900);
  EXPECT_EQ(state_.reads, 2u);
}

TEST_F(WatchedThreadTest, ThreadThatIsNotSeenWaitingIsReadAgain) {
  state_.reading.wait = WaitReason::kNone;
  LookUntil(250);
  EXPECT_EQ(state_.reads, 5u);
}

TEST_F(WatchedThreadTest, LowerPriorityIsInTheNextReportOnly) {
  state_.scheduling.nice = 0;
  Thread().CheckThread();
  state_.scheduling.nice = 10;
  Thread().CheckThread();
  Thread().CheckThread();
  Begin("a", 100);
  LookUntil(900);
  End(910);
  LookUntil(1000);
  Begin("b", 1100);
  LookUntil(1900);
  End(1910);
  LookUntil(2000);
  ASSERT_THAT(sealed_, SizeIs(2));
  EXPECT_THAT(sealed_[0].notes, ElementsAre(HasSubstr("nice value is 10, it was 0")));
  EXPECT_THAT(sealed_[1].notes, IsEmpty());
}

TEST_F(WatchedThreadTest, LoopHasItsOwnNameOrTheProcesss) {
  StoreName("io loop", ring_.header()->watched[0].loop_name, kLoopNameWords);
  Begin("a", 100);
  LookUntil(900);
  End(910);
  LookUntil(1000);
  ASSERT_THAT(sealed_, SizeIs(1));
  EXPECT_EQ(sealed_[0].loop, "io loop");
}

TEST_F(WatchedThreadTest, FinishSealsWhatIsGrowing) {
  Begin("a", 100);
  LookUntil(900);
  EXPECT_THAT(sealed_, IsEmpty());
  Thread().Finish(At(950), FakeClock());
  ASSERT_THAT(sealed_, SizeIs(1));
  EXPECT_EQ(sealed_[0].end_ns, At(950));
  EXPECT_FALSE(sealed_[0].ongoing);
  EXPECT_FALSE(Sampler().running);
}

TEST_F(WatchedThreadTest, FinishReportsEachLateFrameThatWaits) {
  Look(50);
  Frame(100, 400);
  Frame(500, 800);
  Frame(900, 1200);
  Thread().Finish(At(1300), FakeClock());
  ASSERT_THAT(sealed_, SizeIs(3)) << "one a look, as many looks as needed";
  for (const SealRequest& request : sealed_) EXPECT_EQ(request.kind, ReportKind::kJank);
  EXPECT_EQ(sealed_[2].begin_ns, At(900));
}

TEST_F(WatchedThreadTest, FinishOfAnIdleThreadSealsNothing) {
  LookUntil(500);
  Thread().Finish(At(510), FakeClock());
  EXPECT_THAT(sealed_, IsEmpty());
}

// Deadlocks that the watcher recorded are in the ring, so that recovery finds them.
class DeadlockedThreadTest : public WatchedThreadTest {
 protected:
  DeadlockedThreadTest() {
    state_.threads.deadlocks = {"deadlock: a and b"};
    EXPECT_TRUE(Recorder::Open(ring_.file()).ok());
  }
  ~DeadlockedThreadTest() override {
    Recorder::Close();
    static auto* closed = new std::vector<FakeRing>();  // a closed ring stays mapped
    closed->push_back(std::move(ring_));
  }
  size_t Recorded() {
    size_t count = 0;
    const RingReader reader(ring_.file()->base(), ring_.file()->bytes());
    for (const WindowThread& thread : reader.CopyWindow(0, UINT64_MAX).threads) {
      for (const WindowChunk& chunk : thread.markers) {
        EventCursor cursor(chunk);
        EventRecord record;
        while (cursor.Next(&record)) {
          if (record.kind != EventKind::kMarker) continue;
          count += MarkerText(record).find("|deadlock: a and b") != std::string::npos ? 1 : 0;
        }
      }
    }
    return count;
  }
};

TEST_F(DeadlockedThreadTest, DeadlockIsRecordedAgainWhileItLasts) {
  Begin("a", 1000);
  LookUntil(5950);
  EXPECT_EQ(Recorded(), 0u);
  LookUntil(6000);
  EXPECT_EQ(Recorded(), 1u);
  LookUntil(10'950);
  EXPECT_EQ(Recorded(), 1u);
  LookUntil(11'000);
  EXPECT_EQ(Recorded(), 2u) << "five seconds later the ring may have lapped the first";
  EXPECT_EQ(state_.dumps, 1u) << "threads are looked at once";
}

TEST_F(DeadlockedThreadTest, ThreadsWithoutADeadlockAreRecordedOnce) {
  state_.threads.deadlocks.clear();
  state_.threads.stacks.push_back(FakeSample(kUi, {1, 2, 3}));
  Begin("a", 1000);
  LookUntil(20'000);
  const RingReader reader(ring_.file()->base(), ring_.file()->bytes());
  size_t stacks = 0;
  for (const WindowThread& thread : reader.CopyWindow(0, UINT64_MAX).threads) {
    for (const WindowChunk& chunk : thread.chunks) {
      EventCursor cursor(chunk);
      EventRecord record;
      while (cursor.Next(&record)) stacks += record.kind == EventKind::kStackSample ? 1 : 0;
    }
  }
  EXPECT_EQ(stacks, 1u);
}

// Input that this thread handled late, as it says itself while recording is on; so these moments
// are the machine's.
class LateInputTest : public DeadlockedThreadTest {
 protected:
  LateInputTest() {
    options_.input_latency_ns = 2 * kNsPerSecond;
    InputLatency::SetThreshold(options_.input_latency_ns);
    ring_.header()->watched[0].tid.store(0);  // this thread takes it
    DispatchMonitor::Begin("handles input");
    now_ns_ = MonotonicNs();
    InputLatency::On(now_ns_ - 3 * kNsPerSecond);
    DispatchMonitor::End();
    now_ns_ = MonotonicNs();
  }

  uint64_t now_ns_ = 0;
};

TEST_F(LateInputTest, EventThatWaitedTooLongIsAnIncidentOfItsOwn) {
  Thread().Look(now_ns_, FakeClock());
  ASSERT_THAT(sealed_, SizeIs(1));
  EXPECT_EQ(sealed_[0].kind, ReportKind::kInputLatency);
  EXPECT_EQ(sealed_[0].what, "input");
  EXPECT_GE(sealed_[0].input_wait_ns, 3 * kNsPerSecond);
  EXPECT_EQ(sealed_[0].input_wait_ns, sealed_[0].end_ns - sealed_[0].begin_ns);
  Thread().Look(now_ns_ + kNsPerSecond, FakeClock());
  EXPECT_THAT(sealed_, SizeIs(1)) << "once";
}

TEST_F(LateInputTest, EventOfAnEarlierRecordingIsNotReportedAgain) {
  ring_.header()->clock_at_start.monotonic_ns = now_ns_ + 1;
  Thread().Look(now_ns_ + kNsPerSecond, FakeClock());
  EXPECT_THAT(sealed_, IsEmpty());
}

TEST_F(LateInputTest, EventThatWaitedWhileTheProcessWasStoppedIsNotLate) {
  const jankbox::Hold hold{RefusalReason::kStopped, now_ns_ - 3 * kNsPerSecond,
                           now_ns_ - kNsPerSecond, 0};
  Thread().NoteHolds({&hold, 1});
  Thread().Look(now_ns_, FakeClock());
  EXPECT_THAT(sealed_, IsEmpty());
}

// Any mix of messages, looked at at any moments at most 50 ms apart: each one that is slow has one
// last revision with its own times and the kind of its length, its revisions count from 1, and the
// others have none.
class RandomDispatches : public WatchedThreadTest, public testing::WithParamInterface<uint32_t> {};

TEST_P(RandomDispatches, EachSlowOneIsSealedOnceInItsLastForm) {
  struct Slow {
    uint64_t begin_ns, end_ns;
    ReportKind kind;
  };
  std::mt19937 random(GetParam());
  const auto any = [&](uint64_t from, uint64_t to) {
    return std::uniform_int_distribution<uint64_t>(from, to)(random);
  };
  std::map<std::string, Slow> expected;
  uint64_t now_ms = 50;
  Look(now_ms);
  for (int message = 0; message < 60; ++message) {
    const std::string name = "message " + std::to_string(message);
    const uint64_t begin_ms = now_ms + any(1, 40);
    const uint64_t length_ms = any(0, 9) < 5 ? any(1, 600) : any(700, 7000);
    const uint64_t end_ms = begin_ms + length_ms;
    Look(now_ms = begin_ms - any(0, begin_ms - now_ms - 1));
    Begin(name.c_str(), begin_ms);
    while (now_ms + 50 < end_ms) Look(now_ms = std::max(begin_ms, now_ms + any(1, 49)));
    End(end_ms);
    Look(now_ms = end_ms + any(0, 30));
    if (length_ms < 700) continue;
    const ReportKind kind = length_ms >= 5000   ? ReportKind::kAnr
                            : length_ms >= 2000 ? ReportKind::kLag
                                                : ReportKind::kSlowMessage;
    expected[name] = {At(begin_ms), At(end_ms), kind};
  }
  Thread().Finish(At(now_ms + 1000), FakeClock());
  std::map<std::string, uint32_t> revisions;  // by id, so far
  std::map<std::string, std::string> id_of;
  for (const SealRequest& request : sealed_) {
    EXPECT_EQ(request.revision, ++revisions[request.id]) << request.what;
    EXPECT_TRUE(id_of.emplace(request.what, request.id).first->second == request.id);
    const auto slow = expected.find(request.what);
    ASSERT_NE(slow, expected.end()) << request.what << " is not slow";
    EXPECT_EQ(request.begin_ns, slow->second.begin_ns);
    EXPECT_EQ(request.kind, slow->second.kind) << request.what;
    if (request.ongoing) {
      EXPECT_LE(request.end_ns, slow->second.end_ns);
      continue;
    }
    EXPECT_EQ(request.end_ns, slow->second.end_ns);
    expected.erase(slow);
  }
  EXPECT_THAT(expected, IsEmpty()) << "slow and never sealed";
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomDispatches, testing::Range(1u, 9u));

}  // namespace
}  // namespace jankbox
